#include "connectors/file_store/read_units.hpp"

#include <utility>

namespace hummer {
namespace {

constexpr std::uint8_t units_state_version = 1;

class ReadUnitsFactory final : public OperatorFactory {
 public:
  explicit ReadUnitsFactory(FollowOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> make() const override {
    return std::make_unique<ReadUnitsOperator>(options_);
  }

 private:
  const FollowOptions options_;
};

std::size_t usual_block_bytes(const FileSourceOptions& options) {
  return LineLimits{options.block_size_bytes, options.max_line_bytes, options.quote}.step_bytes();
}

}  // namespace

std::shared_ptr<const OperatorFactory> make_unit_reader(FollowOptions options) {
  return std::make_shared<ReadUnitsFactory>(std::move(options));
}

ReadUnitsOperator::ReadUnitsOperator(FollowOptions options)
    : options_(std::move(options)), pool_(usual_block_bytes(options_.file)) {}

Status ReadUnitsOperator::restore(ByteReader& in) {
  std::uint8_t version = 0;
  std::uint64_t count = 0;
  bool valid = in.get_value(version) && version == units_state_version && in.get_value(count);
  for (std::uint64_t i = 0; valid && i < count; ++i) {
    Waiting waiting;
    FileUnit& unit = waiting.unit;
    std::string_view path, file_version;
    valid = in.get_text(path) && in.get_value(unit.size_bytes) && in.get_value(unit.modified_ms) &&
            in.get_text(file_version) && in.get_value(unit.begin) && in.get_value(unit.end) &&
            in.get_value(waiting.from) && unit.begin < unit.end && unit.end <= unit.size_bytes;
    unit.path = path;
    unit.version = file_version;
    units_.push_back(std::move(waiting));
  }
  if (valid) return {};
  return {ErrorCode::corrupt_record, "the files that a reader of follow_files has before it"};
}

Status ReadUnitsOperator::snapshot(ByteWriter& out) {
  if (reader_) units_.front().from = reader_->position();
  out.put_value(units_state_version);
  out.put_value(static_cast<std::uint64_t>(units_.size()));
  for (const auto& [unit, from] : units_) {
    out.put_text(unit.path);
    out.put_value(unit.size_bytes);
    out.put_value(unit.modified_ms);
    out.put_text(unit.version);
    out.put_value(unit.begin);
    out.put_value(unit.end);
    out.put_value(from);
  }
  return {};
}

Status ReadUnitsOperator::open() {
  HUMMER_TRY(check(options_));
  Result<std::unique_ptr<FileStore>> store = options_.store->make(context());
  if (!store.ok()) return store.status();
  store_ = std::move(*store);
  left_out_.add(0);
  if (!units_.empty()) set_timer();
  return {};
}

OperatorResult ReadUnitsOperator::process(Batch& in, Output& out) {
  const auto units = in.values<FileUnit>();
  while (!in.finished()) {
    if (units_.size() < most_waiting) {
      units_.push_back({units[in.position()], 0});
      in.advance_to(in.position() + 1);
      continue;
    }
    if (out.full()) return OperatorResult::more;
    switch (read_on(out)) {
      case Step::block: return OperatorResult::more;
      case Step::waiting: return OperatorResult::blocked;
      case Step::failed: return OperatorResult::failed;
      case Step::unit_ended:
      case Step::nothing: break;
    }
  }
  set_timer();
  return OperatorResult::done;
}

OperatorResult ReadUnitsOperator::timer(std::int64_t, Output& out) {
  for (;;) {
    if (out.full()) return OperatorResult::more;
    switch (read_on(out)) {
      case Step::block: set_timer(); return OperatorResult::done;
      case Step::waiting: return OperatorResult::done;  // wake() is heard by idle()
      case Step::failed: return OperatorResult::failed;
      case Step::unit_ended: break;
      case Step::nothing:
        // Others may hold back what they have until the input pauses.
        context().wake();
        return OperatorResult::done;
    }
  }
}

OperatorResult ReadUnitsOperator::idle(Output&) {
  if (!units_.empty()) set_timer();
  return OperatorResult::done;
}

OperatorResult ReadUnitsOperator::end(Output& out) {
  for (;;) {
    if (out.full()) return OperatorResult::more;
    switch (read_on(out)) {
      case Step::block: return OperatorResult::more;
      case Step::waiting: return OperatorResult::blocked;
      case Step::failed: return OperatorResult::failed;
      case Step::unit_ended: break;
      case Step::nothing: return OperatorResult::done;
    }
  }
}

// The next moment: what has come meanwhile, such as a barrier, is taken first.
void ReadUnitsOperator::set_timer() { context().call_at(context().now() + 1); }

ReadUnitsOperator::Step ReadUnitsOperator::read_on(Output& out) {
  if (units_.empty()) return Step::nothing;
  const Waiting& first = units_.front();
  if (!reader_) {
    auto reader = UnitReader::open(*store_, first.unit, first.from, options_.file, pool_,
                                   [this] { context().wake(); });
    if (!reader.ok()) return give_up(reader.status());
    reader_ = std::move(*reader);
    counted_bytes_ = 0;
  }
  if (!reader_->is_at_hand()) return Step::waiting;
  Result<SplitReader::Run> run = reader_->next();
  if (!run.ok()) return give_up(run.status());
  const bool ended = run->block.size == 0;
  const std::uint64_t read = ended ? first.unit.end - first.unit.begin : reader_->bytes_read();
  if (read > counted_bytes_) context().count_bytes(read - counted_bytes_);
  counted_bytes_ = std::max(counted_bytes_, read);
  if (ended) {
    end_unit();
    return Step::unit_ended;
  }
  out.collector<TextBlock>()(run->block);
  out.batch().keep(run->buffer);
  return Step::block;
}

ReadUnitsOperator::Step ReadUnitsOperator::give_up(const Status& status) {
  const bool changed = status.code() == ErrorCode::file_changed;
  const bool removed = status.code() == ErrorCode::not_found;
  const FileTrouble trouble = changed   ? options_.changed
                              : removed ? options_.removed
                                        : FileTrouble::fail;
  if (trouble == FileTrouble::fail) {
    (void)context().fail(status);
    return Step::failed;
  }
  say_left_out(context(), status.message());
  left_out_.add();
  end_unit();
  return Step::unit_ended;
}

void ReadUnitsOperator::end_unit() {
  reader_.reset();
  units_.pop_front();
}

Status ReadUnitsOperator::close() {
  reader_.reset();
  store_.reset();
  return {};
}

}  // namespace hummer
