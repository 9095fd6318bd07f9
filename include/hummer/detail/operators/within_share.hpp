// within_share: a call of an operator whose state is a KeyedStore, kept within its share of memory.
//
// Behind the call what the store has too much of in memory goes to disk; a state that can't be read
// back fails the operator. Without a limit it is the call. A call that goes through many keys by
// itself makes room on its way: FiredTimers.
#pragma once

#include <cstddef>
#include <utility>

#include <hummer/detail/state/keyed_store.hpp>
#include <hummer/operator.hpp>

namespace hummer {

template <typename Call>
OperatorResult within_share(KeyedStoreBase& store, OperatorContext& context, Call&& call) {
  if (!store.limited()) return call();
  try {
    const OperatorResult answer = call();
    if (answer == OperatorResult::failed) return answer;
    if (!store.failure().ok()) return context.fail(store.failure());  // kept from us
    Status status = store.keep_within_share();
    return status.ok() ? answer : context.fail(std::move(status));
  } catch (const StateUnavailable&) {
    return context.fail(store.failure());
  }
}

// A part of what the store was shown comes from disk; `more`: there is more of it.
inline OperatorResult fetch_ahead(KeyedStoreBase& store, OperatorContext& context) {
  Result<bool> all = store.fetch_ahead();
  if (!all.ok()) return context.fail(all.status());
  return *all ? OperatorResult::done : OperatorResult::more;
}

// Counts the timers that fire within one call: each may have brought its key back from disk.
class FiredTimers {
 public:
  // Behind each one, without a key in hand.
  Status make_room(KeyedStoreBase& store) {
    if (!store.limited() || ++fired_ % timers_per_look != 0) return {};
    return store.keep_within_share();
  }

 private:
  static constexpr std::size_t timers_per_look = 64;
  std::size_t fired_ = 0;
};

}  // namespace hummer
