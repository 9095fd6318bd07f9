// SlotOfPair: a slot in which the merge half of an aggregate has joined the partial one, for tests
// of what uses their common table.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <hummer/detail/state/co_located_state.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>

namespace hummer {

template <typename K, typename A>
class SlotOfPair final : public FakeOperatorContext {
 public:
  explicit SlotOfPair(const Place& place) : FakeOperatorContext(place) {
    pair->merge_joined = true;
  }
  std::shared_ptr<void> slot_local(const std::string&,
                                   const std::function<std::shared_ptr<void>()>&) override {
    return pair;
  }

  const std::shared_ptr<CoLocatedState<K, A>> pair = std::make_shared<CoLocatedState<K, A>>();
};

}  // namespace hummer
