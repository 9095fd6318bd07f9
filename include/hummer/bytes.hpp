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
// A text that is too long for memory, such as the state of an operator, comes part by part from a
// ByteSource. What was taken of it stays until let_go().
//
// A reader of what another program wrote carries how that laid out types which name their fields
// (layouts(), null: as this program; hummer/evolving.hpp). Who reads a part of what a reader had by
// a reader of its own makes it of both.
//
// Thread: one at a time. Ownership: neither owns the bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hummer {

namespace detail {
class SavedLayouts;
}

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
  // Where the caller writes the next `length` bytes; null where put() would write nothing.
  char* claim(std::size_t length) {
    if (length > room() && !make_room(length)) return nullptr;
    return std::exchange(cursor_, cursor_ + length);
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
  bool make_room(std::size_t length);
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

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Of the bytes that no part has had.
  virtual std::size_t left() const = 0;
  // `rest`, of the part before, and what follows it: at least `length` bytes in a row. Fewer:
  // there are no more, or they can't be had. Parts stay until let_go(), which keeps the last one.
  virtual std::string_view next(std::string_view rest, std::size_t length) = 0;
  virtual void let_go() = 0;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : cursor_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  ByteReader(std::string_view part, const ByteReader& whole) : ByteReader(part) {
    layouts_ = whole.layouts_;
  }
  // REQUIRES: nobody else reads from it.
  explicit ByteReader(ByteSource& source) : source_(&source) {}

  std::size_t left() const { return at_hand() + (source_ == nullptr ? 0 : source_->left()); }

  // The next `length` bytes in place, or null when fewer are left.
  const char* take(std::size_t length) {
    if (length > at_hand() && !fetch(length)) return nullptr;
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
  // Nobody looks any more at what was taken so far. Whoever reads much says so now and then.
  void let_go() {
    if (source_ != nullptr) source_->let_go();
  }
  const detail::SavedLayouts* layouts() const { return layouts_; }
  void set_layouts(const detail::SavedLayouts* layouts) { layouts_ = layouts; }

 private:
  std::size_t at_hand() const { return static_cast<std::size_t>(end_ - cursor_); }
  bool fetch(std::size_t length);

  const char* cursor_ = nullptr;
  const char* end_ = nullptr;
  ByteSource* source_ = nullptr;  // null: what is at hand is all
  const detail::SavedLayouts* layouts_ = nullptr;
};

}  // namespace hummer
