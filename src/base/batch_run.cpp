#include <hummer/detail/operators/batch_run.hpp>

#include <utility>

namespace hummer {

void pad_timestamps(Batch& target, std::size_t records) {
  target.timestamps().resize(records, no_timestamp);
}

Timestamp* room_for_times(Batch& target, std::size_t first, std::size_t count) {
  pad_timestamps(target, first);
  target.timestamps().resize(first + count);
  return target.timestamps().data() + first;
}

void stamp_records(Batch& target, std::size_t first, std::size_t records, Timestamp time) {
  pad_timestamps(target, first);
  target.timestamps().resize(records, time);
}

void carry_timestamps(Batch& in, BatchRun run, std::size_t count, Batch& target) {
  if (count == 0) return;
  if (in.has_timestamps()) {
    if (run.used == 0 && count == in.size() && in.unique()) {
      std::swap(in.timestamps(), target.timestamps());
      return;
    }
    pad_timestamps(target, run.used);
    const Timestamp* from = in.timestamps().data() + run.first;
    target.timestamps().insert(target.timestamps().end(), from, from + count);
  } else if (target.has_timestamps()) {
    pad_timestamps(target, run.used + count);
  }
}

}  // namespace hummer
