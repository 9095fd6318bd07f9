// RecordPartitioner: spreads records over downstream subtasks, each to the one that an Owners says.
//
//   struct Owners {
//     auto bound();   // a function object, const T& → the subtask, that holds while Owners does;
//                     // it is a local of the loop, so that the loop's stores can't change it
//     TwoTargets divide(std::span<const T>);   // optional, quicker: of many, where there are two
//   };
//
// One per upstream subtask of a hash edge; see Partitioner.
// Cost: one copy (or move) per record beside what the owner costs. Records that are copied as bytes
// go to up to eight targets in blocks, where they don't wait for each other.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/view_check.hpp>
#include <hummer/detail/partitioner.hpp>

namespace hummer {

// The places of each target's records, of at most 256 and at least one: of the first ones only
// where the next one's owner throws, which it does when that is the first.
struct TwoTargets {
  std::span<const std::uint8_t> first;
  std::span<const std::uint8_t> second;
};

// Calls note(i) for each i < count, until one throws, which the first one may not. How many it was.
template <typename Note>
std::size_t leading(std::size_t count, Note&& note) {
  std::size_t i = 0;
  try {
    for (; i < count; ++i) note(i);
  } catch (...) {
    if (i == 0) throw;
  }
  return i;
}

template <typename T, typename Owners>
class RecordPartitioner final : public Partitioner {
 public:
  // The arguments are those of Owners.
  template <typename... Arguments>
    requires std::constructible_from<Owners, Arguments...>
  explicit RecordPartitioner(Arguments&&... arguments)
      : owners_(std::forward<Arguments>(arguments)...) {}

  OperatorResult scatter(Batch& in, std::vector<Batch>& targets,
                         std::uint32_t soft_limit) override {
    if (in.finished()) return OperatorResult::done;
    const auto records = in.values<T>();
    const bool move = in.unique();
    const bool timed = in.has_timestamps();
    RecordInHand in_hand(in);
    const Ends ends(ends_, targets, soft_limit);
    std::size_t i = in.position();
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (targets.size() <= most_targets_of_blocks) {
        i = scatter_blocks(in, records, in_hand, targets);
        if (room_of_all() == 0) {
          return i == records.size() ? OperatorResult::done : OperatorResult::more;
        }
      }
    }
    End* const end_of = ends_.data();  // locals: the loop's stores can't change them
    auto owner_of = owners_.bound();
    for (; i < records.size(); ++i) {
      in_hand.set(i);
      const std::size_t owner = owner_of(records[i]);
      End& end = end_of[owner];
      if constexpr (std::is_trivially_copyable_v<T>) {
        *end.next = records[i];
      } else if (move) {
        new (end.next) T(std::move(const_cast<T&>(records[i])));
      } else if constexpr (std::is_copy_constructible_v<T>) {
        new (end.next) T(records[i]);
      }
      if (timed || end.timed) {
        times_of(end, targets[owner]).push_back(timed ? in.timestamps()[i] : no_timestamp);
      }
      if (++end.next >= end.full) {
        in_hand.set(i + 1);
        return i + 1 == records.size() ? OperatorResult::done : OperatorResult::more;
      }
    }
    in_hand.set(records.size());
    return OperatorResult::done;
  }

 private:
  // Where records go in blocks. One by one, with so few targets, a record often goes where the one
  // before went, so reading its place waits for that one's write, which processors don't foresee.
  static constexpr std::size_t most_targets_of_blocks = 8;
  static constexpr std::size_t least_block = 16;
  static constexpr std::size_t most_block = 256;

  // Where the next record for a target goes; they are in registers or near, which the batches' own
  // sizes are not.
  struct End {
    T* next;
    T* full;
    T* begin;
    bool timed;
  };
  // The batches learn of their sizes when it goes, also where key_of throws.
  class Ends {
   public:
    Ends(std::vector<End>& ends, std::vector<Batch>& targets, std::uint32_t soft_limit)
        : ends_(ends), targets_(targets) {
      ends_.clear();
      for (Batch& target : targets) {
        T* const begin = target.mutable_values<T>();
        ends_.push_back(
            {begin + target.size(), begin + soft_limit, begin, !target.timestamps().empty()});
      }
    }
    ~Ends() {
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        targets_[i].set_size(static_cast<std::size_t>(ends_[i].next - ends_[i].begin));
      }
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;

   private:
    std::vector<End>& ends_;
    std::vector<Batch>& targets_;
  };

  // The end's timestamps, with one for each record that it has: it has times from now on.
  static std::vector<Timestamp>& times_of(End& end, Batch& target) {
    end.timed = true;
    std::vector<Timestamp>& times = target.timestamps();
    const auto records = static_cast<std::size_t>(end.next - end.begin);
    if (times.size() != records) times.resize(records, no_timestamp);
    return times;
  }

  // Takes records in blocks as long as every target has room for a whole one; answers up to where.
  // The owners of a block come first, then for each target its records. Of two targets a record
  // that is not the one's is the other's, so one pass finds the records of both.
  std::size_t scatter_blocks(const Batch& in, std::span<const T> records, RecordInHand& in_hand,
                             std::vector<Batch>& targets) {
    std::size_t first = in.position();
    for (;;) {
      const std::size_t count = std::min(records.size() - first, room_of_all());
      if (count < least_block) return first;
      in_hand.set(first);
      const T* const from = &records[first];
      const Timestamp* const times = in.has_timestamps() ? &in.timestamps()[first] : nullptr;
      std::size_t known = 0;
      if (targets.size() == 2) {
        const TwoTargets divided = divide(records.subspan(first, count));
        take(ends_[0], targets[0], from, times, divided.first);
        take(ends_[1], targets[1], from, times, divided.second);
        known = divided.first.size() + divided.second.size();
      } else {
        known = find_owners(records.subspan(first, count));
        for (std::size_t owner = 0; owner < targets.size(); ++owner) {
          take(ends_[owner], targets[owner], from, times, {chosen_, choose(owner, known)});
        }
      }
      first += known;
      in_hand.set(first);
    }
  }
  static void take(End& end, Batch& target, const T* from, const Timestamp* times,
                   std::span<const std::uint8_t> chosen) {
    if (times != nullptr || end.timed) {
      std::vector<Timestamp>& all = times_of(end, target);
      const std::size_t before = all.size();
      all.resize(before + chosen.size(), no_timestamp);
      if (times != nullptr) {
        Timestamp* const to = all.data() + before;
        for (std::size_t i = 0; i < chosen.size(); ++i) to[i] = times[chosen[i]];
      }
    }
    T* const next = end.next;
    for (std::size_t i = 0; i < chosen.size(); ++i) next[i] = from[chosen[i]];
    end.next += chosen.size();
  }
  // Of the target that has least, at most a block.
  std::size_t room_of_all() const {
    std::ptrdiff_t room = most_block;
    for (const End& end : ends_) room = std::min(room, end.full - end.next);
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(room, 0));
  }
  // Of how many records.
  std::size_t find_owners(std::span<const T> records) {
    auto owner_of = owners_.bound();
    return leading(records.size(), [&](std::size_t i) {
      owner_of_[i] = static_cast<std::uint8_t>(owner_of(records[i]));
    });
  }
  TwoTargets divide(std::span<const T> records) {
    if constexpr (requires { owners_.divide(records); }) {
      return owners_.divide(records);
    } else {
      const std::size_t known = find_owners(records);
      std::size_t of_first = 0;
      for (std::size_t i = 0; i < known; ++i) {
        chosen_[of_first] = static_cast<std::uint8_t>(i);
        others_[i - of_first] = static_cast<std::uint8_t>(i);
        of_first += owner_of_[i] == 0 ? 1 : 0;
      }
      return {{chosen_, of_first}, {others_, known - of_first}};
    }
  }
  // Leaves the numbers of the owner's records in chosen_: how many.
  std::size_t choose(std::size_t owner, std::size_t known) {
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < known; ++i) {
      chosen_[chosen] = static_cast<std::uint8_t>(i);
      chosen += owner_of_[i] == owner ? 1 : 0;
    }
    return chosen;
  }

  Owners owners_;

  // Of a call.
  std::vector<End> ends_;
  std::uint8_t owner_of_[most_block];
  std::uint8_t chosen_[most_block];
  std::uint8_t others_[most_block];  // of two targets
};

}  // namespace hummer
