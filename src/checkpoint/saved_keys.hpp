// The keyed state of a checkpoint or savepoint, key by key, without the job that made it.
//
//   visit_saved_keys(files, path, {.of_operator = "bank"}, [&](const SavedKey& key) { … });
//
// What is read: the states and timers of keyed functions (value, list, map, aggregate and reducing
// ones) and of the joins and ready operators that are made of them, the windows of windows that
// keep state per key (sessions, windows with triggers), and the accumulators of running aggregates.
// Other operators with state, and keys and accumulators of types that only the job's codecs know,
// are named in the answer, with the reason.
//
// A piece is gone through in steps, so a state may be larger than memory. Of deltas the newest goes
// first, and which keys it has is remembered, 16 bytes for each: what an older piece has of them is
// over. The state is read twice: once to check all files.
//
// Thread: any; calls block for as long as the disk takes. Errors: those of CheckpointStore, and
// corrupt_record where bytes are no state of the type that the piece says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/evolving.hpp>
#include <hummer/keyed_states.hpp>

#include "base/type_grammar.hpp"
#include "platform/files.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

// Valid during the visit.
struct SavedKey {
  struct State {
    std::string_view name;
    const ParsedType* type = nullptr;  // value<T>, list<T>, …; of an accumulator, its own
    bool accumulator = false;
    std::string_view bytes;
  };
  struct Timer {
    TimerKind kind = TimerKind::event;
    Timestamp time = 0;
  };

  const CheckpointOperator* from = nullptr;
  std::uint32_t subtask = 0;
  const ParsedType* key_type = nullptr;
  std::string_view key;       // its bytes
  std::vector<State> states;  // those that it has
  std::vector<Timer> timers;
};

struct SavedKeysFilter {
  std::string of_operator;  // uid or name; empty: all
};

struct SkippedOperator {
  std::string uid;
  std::string why;
};

// A failure that `visit` answers ends it.
Result<std::vector<SkippedOperator>> visit_saved_keys(
    Files& files, const std::string& path, const SavedKeysFilter& filter,
    const std::function<Status(const SavedKey&)>& visit);

}  // namespace hummer
