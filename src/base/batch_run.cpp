#include <hummer/detail/operators/batch_run.hpp>

#include <algorithm>

namespace hummer {

BatchRun next_run(const Batch& in, Batch& target, std::uint32_t soft_limit) {
  const std::size_t first = in.position();
  const std::size_t used = target.size();
  const std::size_t room = used < soft_limit ? soft_limit - used : 0;
  const std::size_t count = std::min<std::size_t>(in.size() - first, room);
  target.reserve(static_cast<std::uint32_t>(used + count));
  return {first, used, count};
}

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

void carry_timestamps(Batch& in, const BatchRun& run, std::size_t count, Batch& target) {
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
