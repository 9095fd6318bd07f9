// CapturedValues: what a user's function object brings with it when a worker builds the job again.
//
// The job function runs on the client and on every worker, so a value that it captures in a lambda
// must be the same everywhere. The engine sees to that without being told where it can: an
// operator's captured values are part of the job graph's fingerprint, and a worker whose values
// differ refuses the job, naming the operator. That needs the values' bytes:
//
//   captures nothing, plain functions, members        nothing to compare
//   integers, enums, bools without padding            the object's bytes
//   an object with a hummer::Codec of its own         its encoding
//   anything else (text, floats, vectors, pointers)   unknown: runs embedded, but a cluster refuses
//                                                     it until it is declared:
//
//   const std::string needle = env.argument("needle");
//   lines.filter(hummer::rebuildable([needle](std::string_view line) { ... }, needle))
//
// The declared values need codecs (strings, numbers, vectors, ... have one). Without values,
// `rebuildable(f)` is a promise: what f captures depends on the job's arguments only.
//
// A captured pointer or reference counts as its address, which differs between processes: such
// a job is refused rather than trusted. Thread: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/bytes.hpp>
#include <hummer/codec.hpp>
#include <hummer/detail/key_hash.hpp>

namespace hummer {

struct CapturedValues {
  bool unknown = false;
  std::uint64_t hash = 0;  // 0: there are none

  // Of two objects of one operator, such as a key function and an aggregate.
  CapturedValues and_also(const CapturedValues& other) const {
    if (other.hash == 0) return {unknown || other.unknown, hash};
    if (hash == 0) return {unknown || other.unknown, other.hash};
    const std::uint64_t both[] = {hash, other.hash};
    return {unknown || other.unknown, hash_bytes(both, sizeof both)};
  }
};

template <typename... Values>
CapturedValues encoded_values(const Values&... values) {
  static_assert((detail::HasCodec<Values> && ...),
                "a declared value has no hummer::Codec: see hummer/codec.hpp");
  if constexpr (sizeof...(Values) == 0) {
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

// A function object whose captured values were declared. Still that function object.
template <typename Function>
struct Rebuildable : Function {
  using Declared = Function;
  Rebuildable(Function function, CapturedValues values)
      : Function(std::move(function)), captured_values(values) {}
  CapturedValues captured_values;
};

template <typename Function, typename... Values>
  requires std::is_class_v<Function>
Rebuildable<Function> rebuildable(Function function, const Values&... values) {
  return {
      std::move(function),
      encoded_values(
          static_cast<const std::conditional_t<
              std::is_convertible_v<const Values&, std::string_view>, std::string_view, Values>&>(
              values)...)};
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
  } else {
    // Aggregates too: reflection would refuse to compile some of them.
    return {.unknown = true, .hash = 0};
  }
}

}  // namespace hummer
