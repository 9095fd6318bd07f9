// CoLocatedState: one table for both halves of an aggregate, partial and merge,
// where they run in the same slot (Slash, section 5: the helper of a partition
// that is its leader too updates the leader's state in place).
//
// Without it a slot keeps two tables, and every key of its own crosses a channel
// to itself. With it the partial half folds all records into the one table and,
// when an epoch ends, hands on only the keys that other subtasks own; the merge
// half adds what the others send, and in the end emits the keys that it owns.
//
// Found through OperatorContext::slot_local by both halves in open(). They are a
// pair when they have the same subtask and parallelism; a half that is alone
// works as if there were no other.
//
// While the partial half hands on (over several calls), the table must not grow,
// which would move entries under its scan: what arrives meanwhile and finds no room
// goes into a table of the merge half's own. Keys that arrive are the slot's own, so
// it does not matter whether the scan sees them.
//
// With a limit to memory the common table ends when it has outgrown its room, since it can't go to
// disk: the partial half hands everything on then, also the slot's own keys, and each half goes on
// with a table of its own. When the partial half has ended, the table becomes the merge half's.
//
// Not for jobs with barriers: a snapshot of the merge half would hold records
// from behind the barrier. Thread: that of the slot.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/accumulator_table.hpp>
#include <hummer/detail/state/hash_range.hpp>
#include <hummer/operator.hpp>

namespace hummer {

template <typename K, typename A>
struct CoLocatedState {
  AccumulatorTable<K, A> table;
  bool handing_on = false;     // the partial half is; the table must not grow
  bool partial_alone = false;  // it has handed on keys of every owner: too late to join
  bool merge_joined = false;
  bool outgrown = false;                          // the partial half goes on alone with the table
  bool partial_ended = false;                     // and has handed on what others own
  std::uint32_t key_groups = default_key_groups;  // the merge half's

  // Of the keys that this subtask owns.
  HashRange owned_hashes(const OperatorContext& context) const {
    return HashRange::of_owner(static_cast<std::uint32_t>(context.subtask()),
                               static_cast<std::uint32_t>(context.parallelism()), key_groups);
  }

  // Drops the keys that other subtasks own; what they lay in.
  AccumulatorTable<K, A> keep_owned(const OperatorContext& context) {
    const HashRange own = owned_hashes(context);
    return table.retain([&](const K& key, const A&) { return own.has(key_hash(key)); });
  }

  // The pair's state, or one of its own for an empty name.
  static std::shared_ptr<CoLocatedState> find(OperatorContext& context, const std::string& name) {
    const auto make = [] {
      return std::static_pointer_cast<void>(std::make_shared<CoLocatedState>());
    };
    if (name.empty()) return std::static_pointer_cast<CoLocatedState>(make());
    const std::string pair = name + " " + std::to_string(context.subtask()) + "/" +
                             std::to_string(context.parallelism());
    return std::static_pointer_cast<CoLocatedState>(context.slot_local(pair, make));
  }
};

}  // namespace hummer
