// ByteWriter and ByteReader: the two ends of an encoded record.
//
// A writer fills either a fixed span (a transport's buffer: what does not fit
// sets `overflowed()` and writes nothing) or a growing string. Integers are
// little-endian, lengths are 32 bits. A reader checks every length against what
// is left, so bytes from outside can't make it read past the end.
//
// `canonical()` is set while key bytes are made (see codec.hpp): equal keys must
// then give equal bytes (−0.0 as 0.0, one NaN).
//
// Thread: one at a time. Ownership: neither owns the bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace hummer {

class ByteWriter {
 public:
  explicit ByteWriter(std::span<char> space, bool canonical = false)
      : begin_(space.data()),
        cursor_(space.data()),
        end_(space.data() + space.size()),
        canonical_(canonical) {}
  explicit ByteWriter(std::string& growing, bool canonical = false)
      : growing_(&growing), canonical_(canonical) {
    growing.resize(growing.size() < 64 ? 64 : growing.size());
    rebase(0);
  }
  ByteWriter(const ByteWriter&) = delete;
  ByteWriter& operator=(const ByteWriter&) = delete;

  std::size_t size() const { return static_cast<std::size_t>(cursor_ - begin_); }
  std::size_t room() const { return static_cast<std::size_t>(end_ - cursor_); }
  bool overflowed() const { return overflowed_; }
  bool canonical() const { return canonical_; }
  std::string_view view() const { return {begin_, size()}; }

  // Back to an earlier `size()`, for a record that did not fit.
  void rewind(std::size_t size) {
    cursor_ = begin_ + size;
    overflowed_ = false;
  }

  void put(const void* bytes, std::size_t length) {
    if (length > room() && !make_room(length)) return;
    if (length != 0) std::memcpy(cursor_, bytes, length);
    cursor_ += length;
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put_value(const T& value) {
    put(&value, sizeof value);
  }
  void put_text(std::string_view text) {
    put_value(static_cast<std::uint32_t>(text.size()));
    put(text.data(), text.size());
  }

 private:
  bool make_room(std::size_t length) {
    if (growing_ == nullptr) {
      overflowed_ = true;
      return false;
    }
    const std::size_t used = size();
    growing_->resize((used + length) * 2);
    rebase(used);
    return true;
  }
  void rebase(std::size_t used) {
    begin_ = growing_->data();
    cursor_ = begin_ + used;
    end_ = begin_ + growing_->size();
  }

  std::string* growing_ = nullptr;
  char* begin_ = nullptr;
  char* cursor_ = nullptr;
  char* end_ = nullptr;
  bool overflowed_ = false;
  bool canonical_ = false;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : cursor_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - cursor_); }

  // The next `length` bytes in place, or null when fewer are left.
  const char* take(std::size_t length) {
    if (length > left()) return nullptr;
    const char* at = cursor_;
    cursor_ += length;
    return at;
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] bool get_value(T& value) {
    const char* at = take(sizeof value);
    if (at == nullptr) return false;
    std::memcpy(&value, at, sizeof value);
    return true;
  }
  // A view of the bytes being read: valid as long as they are.
  [[nodiscard]] bool get_text(std::string_view& text) {
    std::uint32_t length = 0;
    if (!get_value(length)) return false;
    const char* at = take(length);
    if (at == nullptr) return false;
    text = {at, length};
    return true;
  }

 private:
  const char* cursor_;
  const char* end_;
};

}  // namespace hummer
