// Collector<T>: where a user function puts its results.
//
//   stream.flat_map([](std::string_view line, Collector<int>& out) { out(1); });
//
// It writes into the operator's output batch through two pointers kept in
// registers; the batch learns of the new size when the collector is destroyed.
// `full()` is a soft limit: an operator stops between two input records when it
// is reached, and is called again with an empty batch. Only one record's own
// expansion may exceed it, and then the batch grows.
//
// Text: `out(view)` stores the view; it must point into the input (see
// hummer/detail/operators/record_text.hpp) or be a literal, or the like
// (hummer/detail/operators/view_check.hpp). A std::string is copied into the batch's arena.
//
// Thread: that of the operator; valid during one call only.
#pragma once

#include <algorithm>
#include <concepts>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/batch.hpp>

namespace hummer {

// How a value that a function returns is kept in a batch: text as a view.
template <typename T>
using Stored =
    std::conditional_t<std::is_same_v<T, std::string> || std::is_convertible_v<T, const char*>,
                       std::string_view, T>;

namespace detail {

template <typename T, typename U>
consteval bool check_emitted() {
  constexpr bool makes_one = std::is_constructible_v<T, U>;
  static_assert(makes_one,
                "emit: no T, which this output has, can be made of this value (U): emit a T, or "
                "name the other type where the output is declared");
  return makes_one;
}

}  // namespace detail

template <typename T>
class Collector {
 public:
  Collector(Batch& batch, std::uint32_t soft_limit)
      : batch_(batch),
        begin_(batch.mutable_values<T>()),
        next_(begin_ + batch.size()),
        end_(begin_ + batch.capacity()),
        soft_end_(begin_ + std::min(soft_limit, batch.capacity())),
        soft_limit_(soft_limit) {}
  ~Collector() { commit(); }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Also in braces, of which a T is made: out({key, value}).
  template <typename U = T>
  void operator()(U&& value) {
    emit(std::forward<U>(value));
  }

  template <typename U = T>
  void emit(U&& value) {
    if (next_ == end_) [[unlikely]]
      grow(1);
    if constexpr (std::is_same_v<T, std::string_view> &&
                  std::is_same_v<std::remove_cvref_t<U>, std::string>) {
      new (next_) T(batch_.copy_text(value));
    } else if constexpr (detail::check_emitted<T, U>()) {
      new (next_) T(std::forward<U>(value));
    }
    ++next_;
  }

  // What `make` returns. It is made in its place, where emit(make()) copies it from elsewhere.
  template <typename Make>
  void emit_made(Make&& make) {
    using Made = std::invoke_result_t<Make&>;
    if constexpr (std::is_same_v<T, std::remove_cvref_t<Made>>) {
      if (next_ == end_) [[unlikely]]
        grow(1);
      new (next_) T(make());
      ++next_;
    } else {
      emit(make());
    }
  }

  // Copies the text; the view lives as long as the batch.
  std::string_view copy(std::string_view text) { return batch_.copy_text(text); }
  // Room for `length` bytes of text to be made in place, such as a lower-cased word.
  char* allocate_text(std::size_t length) { return batch_.allocate_text(length); }

  bool full() const { return next_ >= soft_end_; }
  std::size_t size() const { return static_cast<std::size_t>(next_ - begin_); }

  // For functions that write many values at once: raw room for at least one value,
  // then how many were written.
  std::span<T> room() {
    if (next_ >= soft_end_ && next_ == end_) grow(1);
    return {next_, static_cast<std::size_t>((next_ < soft_end_ ? soft_end_ : end_) - next_)};
  }
  void wrote(std::size_t count) { next_ += count; }

  void commit() { batch_.set_size(size()); }

 private:
  void grow(std::size_t count) {
    commit();
    const auto used = static_cast<std::uint32_t>(size());
    batch_.reserve(used + std::max<std::uint32_t>(used, static_cast<std::uint32_t>(count)));
    begin_ = batch_.mutable_values<T>();
    next_ = begin_ + used;
    end_ = begin_ + batch_.capacity();
    soft_end_ = begin_ + std::min(soft_limit_, batch_.capacity());
  }

  Batch& batch_;
  T* begin_;
  T* next_;
  T* end_;
  T* soft_end_;
  std::uint32_t soft_limit_;
};

}  // namespace hummer
