// DeclaredStates: the states that a user's object declares as its members.
//
// An aggregate's fields are looked at by reflection (Boost.PFR), so that a state
// needs no registration; an object that is none (private members, constructors,
// base classes, arrays) lists them: auto states() { return hummer::states(a, b); }
//
// Lifecycle: found once; the object must not move afterwards. Thread: one.
#pragma once

#include <boost/pfr/core.hpp>
#include <concepts>
#include <tuple>
#include <type_traits>
#include <vector>

#include <hummer/broadcast_state.hpp>
#include <hummer/detail/state/keyed_backend.hpp>
#include <hummer/rebuildable.hpp>

namespace hummer {

struct DeclaredStates {
  std::vector<KeyedState*> keyed;
  std::vector<BroadcastStateBase*> broadcast;

  template <typename User>
  static DeclaredStates of(User& user) {
    // `rebuildable(function)` is a class derived from the function's.
    if constexpr (requires { typename User::Declared; }) {
      return of(static_cast<typename User::Declared&>(user));
    } else {
      return found_in(user);
    }
  }

 private:
  template <typename User>
  static DeclaredStates found_in(User& user) {
    DeclaredStates found;
    const auto look_at = [&]<typename Field>(Field& field) {
      if constexpr (std::derived_from<Field, KeyedState>) {
        found.keyed.push_back(&field);
      } else if constexpr (std::derived_from<Field, BroadcastStateBase>) {
        found.broadcast.push_back(&field);
      }
    };
    if constexpr (requires { user.states(); }) {
      std::apply([&](auto&... state) { (look_at(state), ...); }, user.states());
    } else if constexpr (std::is_aggregate_v<User>) {
      boost::pfr::for_each_field(user, look_at);
    }
    return found;
  }
};

// What a keyed function brings with it when a job is rebuilt (see rebuildable.hpp): the fields of
// an aggregate that are no states. Of a class, what it says itself.
template <typename User>
CapturedValues captured_by_keyed(const User& user) {
  if constexpr (std::is_aggregate_v<User> && !std::is_empty_v<User> &&
                !requires(User& own) { own.states(); }) {
    CapturedValues all;
    boost::pfr::for_each_field(user, [&]<typename Field>(const Field& field) {
      if constexpr (std::derived_from<Field, KeyedState> ||
                    std::derived_from<Field, BroadcastStateBase>) {
        // Made where it is declared.
      } else if constexpr (detail::HasCodec<Field>) {
        all = all.and_also(encoded_values(field));
      } else {
        all = all.and_also(captured_values(field));
      }
    });
    return all;
  } else {
    return captured_values(user);
  }
}

// The broadcast part of a snapshot: every state with its name and type.
void snapshot_broadcast(const std::vector<BroadcastStateBase*>& states, ByteWriter& out);
// `keep`: of the first piece; the others are passed over.
Status restore_broadcast(const std::vector<BroadcastStateBase*>& states, ByteReader& in, bool keep,
                         bool allow_dropped_state);

}  // namespace hummer
