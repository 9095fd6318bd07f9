// SavedOperator: one keyed function's state in a savepoint on disk, read into a KeyedStore and
// written into a new savepoint, without the job (hummer/savepoint.hpp).
//
// Lifecycle: load once, then write. Thread: one. Errors: those of SavepointEdit.
#pragma once

#include <memory>
#include <string>

#include <hummer/detail/state/declared_states.hpp>
#include <hummer/detail/state/keyed_store.hpp>

namespace hummer {

class Platform;

namespace detail {

class SavedOperator {
 public:
  SavedOperator(std::string path, std::string uid, Platform* platform);
  ~SavedOperator();
  SavedOperator(const SavedOperator&) = delete;
  SavedOperator& operator=(const SavedOperator&) = delete;

  // `store` is bound to the states. Without keys only what stands ahead of them is read.
  Status load(const DeclaredStates& states, bool with_keys, KeyedStoreBase& store);
  Status write(const std::string& path, KeyedStoreBase& store);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// What a SavepointEdit works on.
template <typename K, typename States>
struct EditedKeys {
  EditedKeys(const std::string& path, const std::string& uid, Platform* platform)
      : saved(path, uid, platform) {}
  template <typename Edit>
  static Result<std::unique_ptr<Edit>> load(const std::string& path, const std::string& uid,
                                            Platform* platform, bool with_keys) {
    std::unique_ptr<Edit> edit(new Edit(path, uid, platform));
    EditedKeys& keys = *edit;
    const DeclaredStates declared = DeclaredStates::of(keys.states);
    HUMMER_TRY(keys.store.bind(declared.keyed));
    HUMMER_TRY(keys.saved.load(declared, with_keys, keys.store));
    return edit;
  }
  States& take(const K& next) {
    store.leave_key();
    key = next;
    store.set_key(key);
    return states;
  }
  template <typename Visit>
  void visit(Visit& visit) {
    store.visit_keys([&] { visit(*store.key(), states); });
  }

  SavedOperator saved;
  States states{};
  K key{};
  // Goes first: its entries are destroyed by the states.
  KeyedStore<K> store{TimerKinds{.event = true, .processing = true}};
};

}  // namespace detail
}  // namespace hummer
