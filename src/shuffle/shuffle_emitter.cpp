#include "shuffle/shuffle_emitter.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

constexpr std::size_t most_buffered_bytes = std::size_t{8} << 20;
constexpr std::size_t least_chunk_bytes = std::size_t{4} << 10;
constexpr std::size_t most_chunk_bytes = std::size_t{256} << 10;
static_assert(most_chunk_bytes <= max_chunk_bytes);

}  // namespace

std::size_t chunk_bytes_for(std::size_t partitions) {
  const std::size_t share = most_buffered_bytes / std::max<std::size_t>(partitions, 1);
  return align_up(std::clamp(share, least_chunk_bytes, most_chunk_bytes));
}

// A buffer of encoded records, as a transport that never makes anybody wait.
class ShuffleEmitter::Partition final : public TransportSender {
 public:
  Partition(ShuffleEmitter& emitter, std::uint32_t number, std::size_t chunk_bytes)
      : emitter_(emitter), number_(number), chunk_bytes_(chunk_bytes) {}

  void attach(Executor&, WakeEvent&) override {}
  std::size_t capacity() const override { return chunk_bytes_; }
  std::span<char> acquire(std::size_t minimum) override {
    if (!buffer_) buffer_ = BufferRef::allocate(chunk_bytes_);
    if (chunk_bytes_ - used_ < minimum && !flush()) return {};
    return {buffer_->data() + used_, chunk_bytes_ - used_};
  }
  void publish(std::size_t used, bool /*more*/) override { used_ += used; }
  bool publish_control(std::span<const char>, bool) override { return true; }
  void send_out_of_band(std::uint64_t, std::string) override {}
  bool finished() override { return true; }
  const Status& failure() const override { return failure_; }
  void abandon(const Status&) override {}

  // False: failure() says why.
  bool flush() {
    if (used_ == 0) return true;
    failure_ = emitter_.write_chunk(number_, {buffer_->data(), used_});
    used_ = 0;
    return failure_.ok();
  }

 private:
  ShuffleEmitter& emitter_;
  const std::uint32_t number_;
  const std::size_t chunk_bytes_;
  BufferRef buffer_;  // null until it is needed
  std::size_t used_ = 0;
  Status failure_;
};

ShuffleEmitter::ShuffleEmitter(ShuffleOutput output, const TypeDescriptor& type)
    : output_(std::move(output)), type_(type), next_(output_.key.subtask % output_.partitions) {
  const std::size_t chunk_bytes = chunk_bytes_for(output_.partitions);
  for (std::uint32_t i = 0; i < output_.partitions; ++i) {
    auto partition = std::make_unique<Partition>(*this, i, chunk_bytes);
    partitions_.push_back(partition.get());
    encoders_.push_back(
        std::make_unique<NetworkEmitter>(std::move(partition), type_, output_.target));
    if (output_.partitioner) targets_.emplace_back(type_, output_.batch_records);
  }
}

ShuffleEmitter::~ShuffleEmitter() = default;

Status ShuffleEmitter::write_chunk(std::uint32_t partition, std::string_view chunk) {
  if (!draft_) {
    Result<std::unique_ptr<ShuffleStore::Draft>> made =
        output_.store->create(output_.key, output_.partitions);
    if (!made.ok()) return made.status();
    draft_ = std::move(*made);
  }
  return chunk.empty() ? Status() : draft_->writer().append(partition, chunk);
}

OperatorResult ShuffleEmitter::fail(const Status& why) {
  failure_ = why.with_context("writing what '" + output_.target + "' will read");
  draft_.reset();
  return OperatorResult::failed;
}

bool ShuffleEmitter::write_batch(std::size_t partition, Batch& batch) {
  Element element;
  element.batch = std::move(batch);
  const OperatorResult answer = encoders_[partition]->offer(element);
  batch = std::move(element.batch);
  // Records are scattered without asking for room.
  if (output_.partitioner && batch.capacity() < output_.batch_records) {
    batch = Batch(type_, output_.batch_records);
  }
  if (answer == OperatorResult::done) return true;
  (void)fail(encoders_[partition]->failure());
  return false;
}

bool ShuffleEmitter::scatter(Batch& batch) {
  while (!batch.finished()) {
    const OperatorResult scattered =
        output_.partitioner->scatter(batch, targets_, output_.batch_records);
    // Views may point into the input's buffers, whichever target they went to.
    if (type_.holds_views) {
      for (Batch& target : targets_) {
        if (!target.empty()) target.keep_buffers_of(batch);
      }
    }
    // Also behind the last record: a target has no room for more than its batch.
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].size() >= output_.batch_records && !write_batch(i, targets_[i])) return false;
    }
    if (scattered == OperatorResult::done) break;
  }
  return true;
}

OperatorResult ShuffleEmitter::offer(Element& element) {
  if (!failure_.ok()) return OperatorResult::failed;
  if (!element.batch.finished()) {
    bool taken = false;
    if (output_.partitioner) {
      taken = scatter(element.batch);
    } else {
      taken = write_batch(next_, element.batch);
      next_ = next_ + 1 == encoders_.size() ? 0 : next_ + 1;
    }
    if (!taken) return OperatorResult::failed;
  }
  element.batch.clear();
  const Control control = std::exchange(element.control, {});
  HUMMER_ASSERT(control.kind != Control::Kind::barrier);
  return control.kind == Control::Kind::end ? finish() : OperatorResult::done;
}

OperatorResult ShuffleEmitter::finish() {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (!targets_[i].empty() && !write_batch(i, targets_[i])) return OperatorResult::failed;
  }
  for (Partition* partition : partitions_) {
    if (!partition->flush()) return fail(partition->failure());
  }
  // Also when there was no record: a file that is missing is one that was lost.
  Status status = write_chunk(0, {});
  if (status.ok()) status = output_.store->publish(*draft_);
  return status.ok() ? OperatorResult::done : fail(status);
}

void ShuffleEmitter::send_out_of_band(std::uint64_t, std::string) {
  HUMMER_ASSERT(false && "a barrier ahead of a blocking edge");
}

void ShuffleEmitter::abandon() { draft_.reset(); }

}  // namespace hummer
