// CapturedValues: what is known of the values that a function object has captured, as a hash that
// client and workers compare; hummer/rebuildable.hpp says of which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/bytes.hpp>
#include <hummer/codec.hpp>
#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/record_type.hpp>
#include <hummer/detail/user_metrics.hpp>

namespace hummer {

struct CapturedValues {
  bool unknown = false;
  std::uint64_t hash = 0;  // 0: there are none

  // Of two objects of one operator, such as a key function and an aggregate.
  [[gnu::cold]] CapturedValues and_also(const CapturedValues& other) const;
};

template <typename... Values>
CapturedValues encoded_values(const Values&... values) {
  constexpr bool known = (detail::check_record_type<Values>() && ...);
  if constexpr (sizeof...(Values) == 0 || !known) {
    return {};
  } else {
    std::string bytes;
    ByteWriter out(bytes, true);
    (Codec<Values>::encode(values, out), ...);
    return {.unknown = false, .hash = hash_bytes(out.view().data(), out.size()) | 1};
  }
}

// Of a collection, element by element.
template <typename Values>
CapturedValues encoded_elements(const Values& values) {
  using Item = typename Values::value_type;
  if constexpr (detail::HasCodec<Item>) {
    std::string bytes;
    ByteWriter out(bytes, true);
    for (const Item& value : values) Codec<Item>::encode(value, out);
    return {.unknown = false, .hash = hash_bytes(out.view().data(), out.size()) | 1};
  } else {
    return {.unknown = true, .hash = 0};
  }
}

// Metrics are known by their names; of what is beside them nothing is known.
template <typename Function>
CapturedValues captured_metrics(const Function& function) {
  detail::MetricCopies copies(&function, sizeof function);
  {
    [[maybe_unused]] const Function copy(function);
  }
  if (!copies.are_all()) return {.unknown = true, .hash = 0};
  return {.unknown = false, .hash = hash_bytes(copies.names().data(), copies.names().size()) | 1};
}

template <typename Function>
CapturedValues captured_values(const Function& function) {
  if constexpr (requires {
                  { function.captured_values } -> std::convertible_to<const CapturedValues&>;
                }) {
    return function.captured_values;
  } else if constexpr (std::is_empty_v<Function> || std::is_pointer_v<Function> ||
                       std::is_member_pointer_v<Function>) {
    return {};
  } else if constexpr (std::has_unique_object_representations_v<Function>) {
    return {.unknown = false, .hash = hash_bytes(&function, sizeof function) | 1};
  } else if constexpr (!detail::Reflected<Function> && detail::HasCodec<Function>) {
    return encoded_values(function);
  } else if constexpr (detail::MayHoldMetrics<Function>) {
    return captured_metrics(function);
  } else {
    // Aggregates too: reflection would refuse to compile some of them.
    return {.unknown = true, .hash = 0};
  }
}

}  // namespace hummer
