// table_state: how an operator that keeps accumulators by key names that state in a snapshot
// (Operator::states).
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/codec.hpp>
#include <hummer/evolving.hpp>

namespace hummer {

template <typename K, typename A>
StateDescription table_state(std::string name = "aggregate") {
  using Key = std::conditional_t<std::is_same_v<K, std::string_view>, std::string, K>;
  return {std::move(name), "table<" + Codec<Key>::name() + "," + Codec<A>::name() + ">"};
}

}  // namespace hummer
