// JoinGroups: the records of one window, key by key, of both sides of a join.
//
// Each slice of the window is one sorted run per side in memory (its log's index) and one on disk,
// which are merged by the hashes of their keys. What comes out are groups: the records of one key
// of both sides, each in order of their times, equal times in order of arrival. Keys come in order
// of their hashes, those of one hash in order of their bytes: the same order wherever the records
// lie and whenever they came.
//
// Groups are made some at a time, and the entries that they name are fetched meanwhile (prefetched
// in memory, copied from disk), so the caller does not wait for each one.
//
//   groups.begin(slices, window, keys);
//   while (*(more = groups.next()))  for (const JoinGroup& group : groups.made()) …
//
// Lifecycle: begin, next until it answers false, and again. The slices stay as they are meanwhile.
// Thread: that of the operator. Errors: those of the disk; limit_exceeded: one key's records, or
// what is known of them, have no room.
// Cost: a sort of 16 bytes per record, once; a comparison per record; for those of a group what
// their memory costs.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/state/join_slices.hpp>

namespace hummer {

struct JoinGroup {
  // Entries of JoinGroups::entries(side).
  std::array<std::uint32_t, 2> begin{};
  std::array<std::uint32_t, 2> end{};

  std::size_t size(std::size_t side) const { return end[side] - begin[side]; }
};

class JoinGroups {
 public:
  // Keys that both sides have; or either.
  enum class Keys : std::uint8_t { of_both_sides, of_either };

  JoinGroups();
  ~JoinGroups();

  void open(OperatorContext& context);
  void begin(JoinSlices& slices, const TimeWindow& window, Keys keys);
  // The next groups; false: there are none left.
  Result<bool> next();
  std::span<const JoinGroup> made() const { return groups_; }
  std::span<const RecordEntry* const> entries(std::size_t side, const JoinGroup& group) const {
    return std::span(entries_[side]).subspan(group.begin[side], group.size(side));
  }
  // What the caller holds of the group in hand is counted, too.
  Status count(std::size_t bytes) { return memory_.set(held_bytes() + bytes); }

 private:
  struct Run;
  class Side;

  std::size_t held_bytes() const;
  void finish(JoinGroup group);
  void add(const JoinGroup& group);
  void sort(std::size_t side, const JoinGroup& group, bool same_key);

  std::array<std::unique_ptr<Side>, 2> sides_;
  Keys keys_ = Keys::of_both_sides;
  Timestamp end_ = no_timestamp;
  const JoinSlices* slices_ = nullptr;
  bool some_ahead_ = false;
  std::vector<JoinGroup> raw_;  // by hash
  std::vector<JoinGroup> groups_;
  std::array<std::vector<const RecordEntry*>, 2> entries_;
  std::vector<std::pair<const RecordEntry*, std::uint32_t>> ordered_;
  MemoryUse memory_;
};

}  // namespace hummer
