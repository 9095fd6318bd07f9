#include <hummer/detail/operators/generator_source.hpp>

#include <algorithm>
#include <limits>

namespace hummer {
namespace {

constexpr std::int64_t paused_retry_ns = 1'000'000;

}  // namespace

Status GeneratorSourceBase::restore(ByteReader& in) {
  std::uint32_t until = 0;
  if (!in.get_value(until) || until > options_.watermark_interval) {
    return {ErrorCode::corrupt_record, "the state of a generator makes no sense"};
  }
  until_watermark_ = until;
  return ranges_.restore(in);
}

std::vector<StateDescription> GeneratorSourceBase::states() { return {IndexRanges::description()}; }

Status GeneratorSourceBase::snapshot(ByteWriter& out) {
  out.put_value(until_watermark_);
  ranges_.snapshot(out);
  return {};
}

Status GeneratorSourceBase::open() {
  if (options_.watermark_interval == 0) {
    return {ErrorCode::invalid_argument, "generate: watermark_interval must not be 0"};
  }
  if (options_.records_per_second && !(*options_.records_per_second > 0)) {
    return {ErrorCode::invalid_argument, "generate: records_per_second must be above 0"};
  }
  if (until_watermark_ == 0) until_watermark_ = options_.watermark_interval;
  if (has_splits()) return open_splits();
  if (ranges_.restored() || context().restored()) return {};
  ranges_.add({static_cast<std::uint64_t>(context().subtask()),
               options_.count.value_or(std::numeric_limits<std::uint64_t>::max()),
               static_cast<std::uint64_t>(context().parallelism())});
  return {};
}

Status GeneratorSourceBase::open_splits() {
  SourceSplits& splits = *context().splits();
  if (!ranges_.restored()) {
    const std::uint64_t end = options_.count.value_or(std::numeric_limits<std::uint64_t>::max());
    for (SplitId id = 0; id < options_.splits; ++id) ranges_.add({id, end, options_.splits});
  }
  for (const IndexRange& range : ranges_.all()) {
    if (range.step != options_.splits) {
      return {ErrorCode::invalid_configuration,
              "generate: the snapshot is of " + std::to_string(range.step) +
                  " splits or subtasks, not of splits = " + std::to_string(options_.splits)};
    }
  }
  ranges_.drop([&](const IndexRange& range) { return !splits.begin(split_of(range)); });
  return {};
}

std::string GeneratorSourceBase::describe_produced(std::size_t record) const {
  if (run_.step == 0 || record < run_used_) return {};  // made of several ranges
  const std::uint64_t index = run_.next + (record - run_used_) * run_.step;
  const std::string at = "index " + std::to_string(index);
  return has_splits() ? "split " + std::to_string(index % options_.splits) + ", " + at : at;
}

OperatorResult GeneratorSourceBase::produce(Output& out) {
  if (ranges_.empty()) return OperatorResult::done;
  if (out.full()) return OperatorResult::more;
  Batch& target = out.batch();
  IndexRange* const split = has_splits() ? next_split(target) : nullptr;
  if (has_splits() && split == nullptr) {
    // Nobody says when the others have caught up.
    context().call_at(context().now() + paused_retry_ns);
    return OperatorResult::blocked;
  }
  std::uint64_t count = out.soft_limit() - target.size();
  if (timed_) count = std::min<std::uint64_t>(count, until_watermark_);
  count = split != nullptr ? split->left(count) : ranges_.left(count);
  bool waits = false;
  if (options_.records_per_second) {
    const std::uint64_t due = records_due();
    waits = due <= count;
    count = std::min(count, due);
  }
  const std::size_t used = target.size();
  run_ = split != nullptr ? *split : ranges_.current();
  if (split == nullptr && count > ranges_.run(count)) run_.step = 0;
  run_used_ = used;
  if (split != nullptr) {
    make(*split, target, count);
    if (split->empty()) context().splits()->finish(split_of(*split));
  } else {
    for (std::uint64_t left = count; left > 0; ranges_.drop_empty()) {
      const std::uint64_t run = ranges_.run(left);
      make(ranges_.current(), target, run);
      left -= run;
    }
  }
  if (const Status views = check_views(target, used); !views.ok()) return context().fail(views);
  if (timed_) follow_with_watermark(out, count);
  ranges_.drop_empty();
  if (ranges_.empty()) return OperatorResult::done;
  if (!waits) return OperatorResult::more;
  context().call_at(time_of_next_record());
  return OperatorResult::blocked;
}

// Its indexes have one remainder.
SplitId GeneratorSourceBase::split_of(const IndexRange& range) const {
  return range.next % options_.splits;
}

// The one whose records this call makes; null: all must wait for others.
IndexRange* GeneratorSourceBase::next_split(Batch& target) {
  SourceSplits& splits = *context().splits();
  IndexRange* const split = ranges_.lowest([&](const IndexRange& range) {
    const SplitId id = split_of(range);
    return !splits.paused(id) && (target.empty() || target.split() == splits.number(id));
  });
  if (split != nullptr) target.set_split(splits.number(split_of(*split)));
  return split;
}

void GeneratorSourceBase::make(IndexRange& range, Batch& target, std::uint64_t count) {
  fill(range, target, count);
  range.advance(count);
  made_ += count;
}

void GeneratorSourceBase::follow_with_watermark(Output& out, std::uint64_t count) {
  until_watermark_ -= static_cast<std::uint32_t>(count);
  if (until_watermark_ != 0) return;
  until_watermark_ = options_.watermark_interval;
  std::optional<Timestamp> time;
  for (const IndexRange& range : ranges_.all()) {
    if (range.empty()) continue;
    const Timestamp next = time_of(range.next) - options_.out_of_order_ms;
    time = time ? std::min(*time, next) : next;
  }
  if (time) out.set_control(Control::watermark(*time));
}

double GeneratorSourceBase::records_per_nanosecond() const {
  return *options_.records_per_second / context().parallelism() / 1e9;
}
std::uint64_t GeneratorSourceBase::records_due() {
  if (!started_at_) started_at_ = context().now();
  const auto passed = static_cast<double>(context().now() - *started_at_);
  const auto allowed = static_cast<std::uint64_t>(passed * records_per_nanosecond()) + 1;
  return allowed > made_ ? allowed - made_ : 0;
}
std::int64_t GeneratorSourceBase::time_of_next_record() const {
  const double wait = static_cast<double>(made_) / records_per_nanosecond();
  return *started_at_ + static_cast<std::int64_t>(wait) + 1;
}

}  // namespace hummer
