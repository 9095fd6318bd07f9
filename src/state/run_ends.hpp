// RunEnds: when the entries of a run are over, in 16 steps of time.
//
// A run of a spilled store knows by it, without being read, how much of it may be forgotten by now,
// and when all of it may. Steps are as long as it takes for the ends to fit into 16 of them: a
// power of two, in the unit of the ends, whatever that is. So what is over is known to a sixteenth
// of the time that lies between the first end and the last; it is never more than there is.
//
//   RunEnds ends;
//   ends.add(1000, 66);
//   ends.add(RunEnds::never, 66);
//   ends.over_bytes(1000)    66
//   ends.last()              RunEnds::never
//
// Cost: a few instructions per entry; the number of steps per question. Thread: one at a time while
// it is told, any from then on.
#pragma once

#include <array>
#include <cstdint>

namespace hummer {

class RunEnds {
 public:
  static constexpr std::int64_t never = INT64_MAX;
  static constexpr std::int64_t always = INT64_MIN;  // it has never been anything else

  static bool is_over(std::int64_t end, std::int64_t now) { return end <= now && end != never; }

  void add(std::int64_t end, std::uint64_t bytes);

  // From then on all of it is over; always: nothing was added.
  std::int64_t last() const { return last_; }
  bool all_over(std::int64_t now) const { return is_over(last_, now); }
  // Of what was added, what is over by now: at most that.
  std::uint64_t over_bytes(std::int64_t now) const;

 private:
  static constexpr std::size_t steps = 16;
  static std::size_t place_of(std::int64_t step) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(step) % steps);
  }
  void double_steps();

  std::int64_t last_ = always;
  std::uint64_t always_bytes_ = 0;
  // Which have something, if first_step_ <= last_step_: an end's is its bits above these.
  int bits_ = 0;
  std::int64_t first_step_ = 0;
  std::int64_t last_step_ = -1;
  std::array<std::uint64_t, steps> bytes_{};
};

}  // namespace hummer
