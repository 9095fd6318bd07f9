// RecordKeys: the keys of a batch's records as tables take them, text as a view.
//
// A table collects the keys of a group of records before it looks at any, so a view must hold on
// for as long. Where the key function answers a reference or a view the text lies in the record,
// or where it lies anyway, and this is a call of the function and nothing else. A std::string that
// it makes is moved into a place of its own, and stays there until the next batch comes to it.
//
// Lifecycle: one per operator. Thread: that of the operator. Cost: none, but for keys that are
// made: one move each, no copy. Memory: those of the largest batch.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/detail/operators/view_check.hpp>

namespace hummer {

template <typename In, typename K, typename KeyOf>
class RecordKeys {
  using Answered = std::invoke_result_t<KeyOf&, const In&>;
  static constexpr bool by_text = std::is_same_v<K, std::string_view>;
  static constexpr bool made = by_text && std::is_same_v<std::remove_cv_t<Answered>, std::string>;

 public:
  // Keys are views of what the batch's buffers hold: they last for as long as somebody keeps these.
  // Others may lie in the record, and go with it.
  static constexpr bool in_buffers =
      by_text && std::is_same_v<std::remove_cvref_t<Answered>, std::string_view> &&
      (std::is_same_v<In, std::string_view> || std::is_reference_v<Answered>);

  explicit RecordKeys(KeyOf key_of) : key_of_(std::move(key_of)) {}

  // The key of the `i`-th record in hand; i is at most one more than the greatest so far. Text is
  // valid until the call for the same i of the next batch, and while the record is there.
  K take(std::size_t i, const In& record) {
    if constexpr (made) {
      if (i == made_.size()) made_.emplace_back();
      return made_[i] = std::invoke(key_of_, record);
    } else {
      Answered key = std::invoke(key_of_, record);
      check_key<Answered>(key);
      return K(std::forward<Answered>(key));
    }
  }
  // The same again, of a record whose key was taken.
  K taken(std::size_t i, const In& record) {
    if constexpr (made) {
      return made_[i];
    } else {
      return K(std::invoke(key_of_, record));
    }
  }

 private:
  struct Nothing {};

  KeyOf key_of_;
  // A deque: its elements, short strings with their text, don't move when it grows.
  [[no_unique_address]] std::conditional_t<made, std::deque<std::string>, Nothing> made_;
};

}  // namespace hummer
