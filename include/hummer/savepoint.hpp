// SavepointEdit: the keyed state of one operator in a savepoint, read and changed without the job.
//
//   auto edit = hummer::SavepointEdit<std::uint64_t, Bank>::open("/s/savepoint-7-4f2a", "bank");
//   (*edit)->for_each(
//       [](const std::uint64_t& key, Bank& bank) { print(key, *bank.account.find()); });
//   (*edit)->at(42).account.set({.id = 42, .cents = 700});             // repair a key
//   Status written = (*edit)->write("/s/repaired");                    // a job restores that
//
// `Bank` is the job's keyed function, or a struct that has its states (hummer/keyed_states.hpp)
// with their names, types and options; K the type of the keys (of text: std::string). What the
// state's types may have been by then: hummer/evolving.hpp. All else of the savepoint (other
// operators, watermarks, broadcast state) goes into the new one as it was; the old one stays.
// replace() begins without keys, to fill a state from a file.
//
// Thread: one. The operator's state is in memory meanwhile. Errors: not_found names the operators
// that there are; invalid_argument: other keys or states, or a checkpoint with deltas (take a
// savepoint), or the new one exists. References last until the next key is asked for.
#pragma once

#include <memory>
#include <string>

#include <hummer/detail/state/saved_operator.hpp>

namespace hummer {

template <typename K, typename States>
class SavepointEdit : private detail::EditedKeys<K, States> {
  using Keys = detail::EditedKeys<K, States>;

 public:
  using Made = Result<std::unique_ptr<SavepointEdit>>;
  // `platform`: null: this machine, else it outlives the edit.
  static Made open(const std::string& path, const std::string& uid, Platform* platform = nullptr) {
    return Keys::template load<SavepointEdit>(path, uid, platform, true);
  }
  static Made replace(const std::string& path, const std::string& uid,
                      Platform* platform = nullptr) {
    return Keys::template load<SavepointEdit>(path, uid, platform, false);
  }
  // The states of a key, which has an entry once something is in them.
  States& at(const K& key) { return Keys::take(key); }
  // visit(const K&, States&), which may change that key. In no order.
  template <typename Visit>
  void for_each(Visit&& visit) {
    Keys::visit(visit);
  }
  // Of the key in hand: that of at(), or of the visit.
  void set_event_timer(Timestamp time) { Keys::store.set_timer(TimerKind::event, time); }
  void delete_event_timer(Timestamp time) { Keys::store.delete_timer(TimerKind::event, time); }
  // A new savepoint in a directory that is not there yet; may be called again.
  Status write(const std::string& path) { return Keys::saved.write(path, Keys::store); }

 private:
  friend Keys;
  using Keys::Keys;
};

}  // namespace hummer
