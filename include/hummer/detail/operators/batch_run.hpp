// BatchRun: the records that one call may take, one output record for each.
//
// Operators that give at most one record per record (map, filter) need no check
// per record: the run is bounded once by what is left of the input and by the
// room below the output's soft limit. The loop then is plain enough to be
// vectorised.
//
// LocalFunction: the user's function as a local of the loop. A captured value
// that lies in the operator might be changed by the loop's own stores, as far as
// the compiler knows, so it would be loaded again for every record; a local copy
// stays in registers. Small functions of trivial captures only; what a mutable
// one has changed is written back. LocalValue: the same of anything else.
//
// HUMMER_UNROLL stands before a loop over small_records: its vectorised body is so
// short that a processor which reads instructions by aligned lines of 64 bytes
// takes twice as long wherever the body happens to cross one (measured: 162 to
// 250 ns per 1,024 numbers by position, 114 ns unrolled at any).
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <hummer/operator.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#define HUMMER_UNROLL _Pragma("GCC unroll 4")
#else
#define HUMMER_UNROLL
#endif

namespace hummer {

// Records whose loops the compiler can be expected to vectorise. Others have bodies of their own
// size, of which four copies would only be in the way.
template <typename... Records>
inline constexpr bool small_records = (std::is_arithmetic_v<Records> && ...);

struct BatchRun {
  std::size_t first;  // of the input
  std::size_t used;   // of the output
  std::size_t count;  // records to take
};

// Makes room in the output batch for the run. (A value that no other function sees: as far as the
// compiler knows, a loop's stores might change what others have the address of.)
inline BatchRun next_run(const Batch& in, Batch& target, std::uint32_t soft_limit) {
  const std::size_t first = in.position();
  const std::size_t used = target.size();
  const std::size_t room = used < soft_limit ? soft_limit - used : 0;
  const std::size_t count = std::min<std::size_t>(in.size() - first, room);
  target.reserve(static_cast<std::uint32_t>(used + count));
  return {first, used, count};
}

// The timestamps of a batch are one per record or none at all.
void pad_timestamps(Batch& target, std::size_t records);

// The times of `count` records from `first` on, to be written.
Timestamp* room_for_times(Batch& target, std::size_t first, std::size_t count);

// The records that end at `records` have `time`, those before them keep theirs.
void stamp_records(Batch& target, std::size_t first, std::size_t records, Timestamp time);
inline void stamp(Batch& target, std::size_t first, std::size_t records, Timestamp time) {
  if (records == first || (time == no_timestamp && !target.has_timestamps())) return;
  stamp_records(target, first, records, time);
}

// Output records used .. used + count have the timestamps of the run's input, which gives away its
// own where they are those of a whole batch that nobody else reads.
void carry_timestamps(Batch& in, BatchRun run, std::size_t count, Batch& target);

// Puts what `make` returns into a place of the output; a std::string's text is copied. A record is
// made in its place: one that was made elsewhere would be copied by loads that are wider than the
// stores of its fields, for which processors wait (measured: 15 to 7 ns per record of 64 bytes).
template <typename T, typename Make>
void put_record(T* to, Make&& make, Batch& target) {
  if constexpr (std::is_same_v<T, std::string_view> &&
                std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Make&>>, std::string>) {
    new (to) T(target.copy_text(make()));
  } else {
    new (to) T(make());
  }
}

// Into a place of the output; `movable` is the same record of an input that nobody shares, or null.
template <typename T>
void move_record(T* to, const T* from, T* movable) {
  if (movable != nullptr) {
    new (to) T(std::move(*movable));
    return;
  }
  if constexpr (std::is_copy_constructible_v<T>) {
    new (to) T(*from);
  } else {
    HUMMER_ASSERT(!"a batch of a type without copy is shared");
  }
}

// For operators that hand a whole batch to a table, which calls the user's functions: when one
// throws, `in` is left at its record; else at the end of the batch.
class RecordInHand {
 public:
  explicit RecordInHand(Batch& in) : in_(in), at_(in.position()) {}
  ~RecordInHand() { in_.advance_to(at_); }
  RecordInHand(const RecordInHand&) = delete;
  RecordInHand& operator=(const RecordInHand&) = delete;

  void set(std::size_t record) { at_ = record; }
  // Costs nothing where the call that follows cannot throw.
  template <bool cannot_throw>
  void set_unless(std::size_t record) {
    if constexpr (!cannot_throw) at_ = record;
  }
  // All have been taken.
  void set_end() { at_ = in_.size(); }

 private:
  Batch& in_;
  std::size_t at_;
};

// Hands the whole of `in` on without a copy. REQUIRES: nothing of it has been taken.
inline OperatorResult hand_on(Batch& in, Batch& out, OperatorContext& context) {
  HUMMER_ASSERT(in.position() == 0);
  if (!out.empty()) return OperatorResult::more;
  context.count_records(in.size());
  std::swap(in, out);
  if (in.has_storage()) in.clear();
  return OperatorResult::done;
}

template <typename Value>
class LocalValue {
 public:
  static constexpr bool copied = std::is_trivially_copy_constructible_v<Value> &&
                                 std::is_trivially_destructible_v<Value> && sizeof(Value) <= 64;

  explicit LocalValue(Value& home) : home_(home), local_(home) {}
  ~LocalValue() {
    if constexpr (copied && !std::is_empty_v<Value>) std::construct_at(&home_, local_);
  }
  LocalValue(const LocalValue&) = delete;
  LocalValue& operator=(const LocalValue&) = delete;

  Value& operator*() { return local_; }

 private:
  Value& home_;
  std::conditional_t<copied, Value, Value&> local_;
};

template <typename Function>
class LocalFunction {
 public:
  explicit LocalFunction(Function& home) : local_(home) {}

  template <typename... Argument>
  decltype(auto) operator()(Argument&&... arguments) {
    return std::invoke(*local_, std::forward<Argument>(arguments)...);
  }

 private:
  LocalValue<Function> local_;
};

}  // namespace hummer
