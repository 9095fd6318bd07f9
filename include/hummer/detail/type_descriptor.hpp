// TypeDescriptor: what the type-erased engine needs to know of a record type.
//
// Below the API a batch holds values of some T that the engine never sees; it
// moves, drops, encodes and decodes them through this table, once per batch and
// never per record. A type is identified by its stable name (from its codec),
// not by an address: the host binary and a loaded job library each have their
// own table and still agree.
//
// Lifecycle: one constant per type, made at first use, never destroyed.
// Thread: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <hummer/codec.hpp>

namespace hummer {

struct TypeDescriptor {
  std::string name;
  std::uint64_t id;  // of the name and the size
  std::size_t size_bytes;
  std::size_t alignment;
  bool trivial;      // moved by memcpy, dropped by nothing
  bool bitwise;      // memory and encoding are the same bytes
  bool holds_views;  // values may point into the batch's kept buffers

  // Moves `count` values into raw memory; the sources are left to be destroyed.
  void (*move_values)(void* to, void* from, std::size_t count);
  // Copies `count` values into raw memory; null for types that only move.
  void (*copy_values)(void* to, const void* from, std::size_t count);
  void (*destroy_values)(void* values, std::size_t count);
  // Encodes values[first, count) until one does not fit; returns the index of the
  // first that was not written (the writer is rewound to its start).
  std::size_t (*encode_values)(const void* values, std::size_t first, std::size_t count,
                               ByteWriter& out);
  // Decodes up to `count` values into raw memory; returns how many were valid.
  std::size_t (*decode_values)(ByteReader& in, void* to, std::size_t count);

  friend bool operator==(const TypeDescriptor& a, const TypeDescriptor& b) { return a.id == b.id; }
};

namespace detail {

// With its id; the rest is for describe_type to say.
TypeDescriptor named_type(std::string name, std::size_t size_bytes, std::size_t alignment);

template <typename T>
[[gnu::cold]] TypeDescriptor describe_type() {
  TypeDescriptor type = named_type(Codec<T>::name(), sizeof(T), alignof(T));
  // Copy construction is what memcpy replaces; assignment (not trivial for std::pair) is not used.
  type.trivial = std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T>;
  type.bitwise = is_bitwise<T> && type.trivial;
  type.holds_views = holds_views<T>;
  type.move_values = [](void* to, void* from, std::size_t count) {
    T* source = static_cast<T*>(from);
    std::uninitialized_move(source, source + count, static_cast<T*>(to));
  };
  if constexpr (std::is_copy_constructible_v<T>) {
    type.copy_values = [](void* to, const void* from, std::size_t count) {
      const T* source = static_cast<const T*>(from);
      std::uninitialized_copy(source, source + count, static_cast<T*>(to));
    };
  } else {
    type.copy_values = nullptr;
  }
  type.destroy_values = [](void* values, std::size_t count) {
    std::destroy_n(static_cast<T*>(values), count);
  };
  type.encode_values = [](const void* values, std::size_t first, std::size_t count,
                          ByteWriter& out) {
    const T* value = static_cast<const T*>(values);
    std::size_t i = first;
    for (; i < count; ++i) {
      const std::size_t mark = out.size();
      Codec<T>::encode(value[i], out);
      if (out.overflowed()) {
        out.rewind(mark);
        break;
      }
    }
    return i;
  };
  type.decode_values = [](ByteReader& in, void* to, std::size_t count) {
    T* target = static_cast<T*>(to);
    std::size_t i = 0;
    for (; i < count; ++i) {
      T* value = new (target + i) T();
      if (!Codec<T>::decode(in, *value)) {
        std::destroy_at(value);
        break;
      }
    }
    return i;
  };
  return type;
}

}  // namespace detail

template <StreamType T>
[[gnu::noinline]] const TypeDescriptor& type_of() {
  static const TypeDescriptor type = detail::describe_type<T>();
  return type;
}
extern template const TypeDescriptor& type_of<std::string_view>();

}  // namespace hummer
