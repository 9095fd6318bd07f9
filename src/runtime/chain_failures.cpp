// ChainDriver when a function throws: where its record came from, and what a failure policy makes
// of it. Nothing here is done for a record that does not fail.
#include <algorithm>
#include <array>
#include <utility>

#include <hummer/source_splits.hpp>

#include "platform/files.hpp"
#include "runtime/chain_context.hpp"

namespace hummer {
namespace {

constexpr std::string_view made_behind = "a record made behind ";

}  // namespace

std::string ChainDriver::position_of(const Stage& stage) const {
  if (&stage == stages_.front().get() && source_ != nullptr) {
    return "record " +
           std::to_string(stage.metrics->records_out.get() +
                          (stage.exits.empty() ? 0 : stage.output.size())) +
           " of its output";
  }
  if (stage.phase != Phase::process) return "the end of its input";
  const auto index = static_cast<std::size_t>(
      std::find_if(stages_.begin(), stages_.end(),
                   [&](const auto& each) { return each.get() == &stage; }) -
      stages_.begin());
  std::string position = describe_input(index, stage.input.batch.position());
  if (!position.empty()) return position;
  return "record " +
         std::to_string(stage.metrics->records_in.get() + stage.input.batch.position()) +
         " of its input";
}

// What its operator says itself, or the nearest one ahead of it that knows where its output came
// from; those between put out one record for each.
std::string ChainDriver::describe_input(std::size_t index, std::size_t record) const {
  const Stage& stage = *stages_[index];
  if (stage.phase == Phase::process && record == stage.input.batch.position()) {
    std::string own = stage.op->describe_position(stage.input.batch);
    if (!own.empty()) return own;
  }
  // What was deferred ahead of it may be of another batch.
  if (index == 0 || stage.input_was_deferred) return {};
  const Stage& above = *stages_[index - 1];
  if (index == 1 && source_ != nullptr) return describe_source(record);
  if (above.processed) {
    std::string put_out = above.op->describe_output(above.input.batch, record);
    if (!put_out.empty()) return put_out;
    if (above.op->one_for_one()) return describe_input(index - 1, above.first + record);
    const std::string first = describe_input(index - 1, above.first);
    if (!first.empty()) {
      return first.starts_with(made_behind) ? first : std::string(made_behind) + first;
    }
  }
  return {};
}

// Its batches are of one split each, where it has any.
std::string ChainDriver::describe_source(std::size_t record) const {
  std::string own = source_->describe_produced(record);
  if (!own.empty() || splits_ == nullptr) return own;
  if (handed_split_ == no_split) return {};
  return "split " + std::to_string(splits_->id(handed_split_)) + ", record " +
         std::to_string(handed_before_ + record) + " since the start";
}

// Once per batch: for describe_source.
void ChainDriver::note_split(const Batch& out) {
  handed_split_ = out.split();
  std::uint64_t& records = split_records_[handed_split_];
  handed_before_ = records;
  records += out.size();
}

bool ChainDriver::skip_failed(Stage& stage, const std::string& reason) {
  Batch& in = stage.input.batch;
  if (stage.failures == nullptr || stage.phase != Phase::process || in.finished()) return false;
  const std::size_t at = in.position();
  if (stage.failures->put == nullptr) {
    (void)stage.op->skip_record(in);
  } else {
    FailurePolicy::Failure failure;
    failure.position = position_of(stage);
    failure.reason = reason;
    failure.attempt = stage.context->attempt();
    failure.text = stage.op->skip_record(in);
    stage.failures->put(in, at, std::move(failure),
                        stage.output.batch(stage.output.port_count() - 1));
  }
  stage.metrics->records_skipped.add(1);
  return true;
}

// Counted from the last one that was asked for; a compressed file has lines, too, but at other
// bytes.
std::uint64_t ChainDriver::line_at(const std::string& path, std::uint64_t offset) {
  Result<std::unique_ptr<ReadableFile>> file = platform_.files().open_for_reading(path);
  if (!file.ok()) return 0;
  std::array<char, 4> magic{};
  const Result<std::size_t> got = (*file)->read_at(0, magic);
  if (!got.ok() || (*file)->size_bytes() < offset) return 0;
  const std::string_view head(magic.data(), *got);
  if (head.starts_with("\x1f\x8b") || head == "\x28\xb5\x2f\xfd") return 0;
  if (known_line_.path != path || known_line_.offset > offset) known_line_ = {path, 0, 1};
  std::string part(std::size_t{64} * 1024, ' ');
  while (known_line_.offset < offset) {
    const std::size_t wanted = std::min<std::uint64_t>(part.size(), offset - known_line_.offset);
    const Result<std::size_t> read = (*file)->read_at(known_line_.offset, {part.data(), wanted});
    if (!read.ok() || *read == 0) return 0;
    known_line_.line += static_cast<std::uint64_t>(
        std::count(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(*read), '\n'));
    known_line_.offset += *read;
  }
  return known_line_.line;
}

}  // namespace hummer
