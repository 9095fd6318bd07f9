// View check: finds text views that point into something that is gone.
//
// A user function may return a `std::string_view` of a local string; the loop
// goes on, and a later operator reads what happens to lie there. Where the job checks views
// (OperatorContext::checks_views: embedded runs, `--check-views on` elsewhere; debug builds, with
// the macro HUMMER_CHECK_VIEWS, always), each operator looks at the views it has put out in a call:
// a view must lie in a buffer that the batch keeps, or in the image of the program or of a loaded
// library (literals, globals). Anything else fails the job: "view into a
// temporary". The operator harness makes the same check in every build.
//
// Keys are looked at everywhere, record by record: what a key function answers by value must not
// lie in the stack that its call has left (check_key).
//
// Thread: any. Cost: two comparisons per view that lies where the one before it lay; else one range
// test per kept buffer. Of a key one comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <hummer/operator.hpp>

namespace hummer {

#ifdef HUMMER_CHECK_VIEWS
static constexpr bool views_are_checked = true;
#else
static constexpr bool views_are_checked = false;
#endif

// Where the views of one batch may lie; they are asked for in turn.
class ViewRanges {
 public:
  explicit ViewRanges(const Batch& batch) : batch_(batch) {}

  // Ok, or what `view` points into, such as "view into a temporary: ... in the stack".
  Status check(std::string_view view) { return in_last(view) ? Status() : find(view); }
  // Whether all lie in the one range of the first. False also where several hold them.
  bool hold_all(std::span<const std::string_view> views);

 private:
  bool in_last(std::string_view view) const {
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(view.data()) - begin_;
    return at <= size_bytes_ && view.size() <= size_bytes_ - at;
  }
  Status find(std::string_view view);

  const Batch& batch_;
  std::uintptr_t begin_ = 0;  // of the range that held the last one
  std::size_t size_bytes_ = 0;
};

Status check_view(std::string_view view, const Batch& batch);

[[noreturn]] void throw_key_in_left_stack();

// REQUIRES: `key` is what a call of a key function from this frame, or one below, has answered.
template <typename Answered>
[[gnu::always_inline]] inline void check_key(const std::remove_cvref_t<Answered>& key) {
  if constexpr (std::is_same_v<Answered, std::string_view>) {
    constexpr std::uintptr_t left_bytes = 64 << 10;  // of frames; less than any stack has left
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (here - reinterpret_cast<std::uintptr_t>(key.data()) < left_bytes) [[unlikely]] {
      throw_key_in_left_stack();
    }
  }
}

namespace detail {

// Calls function(std::string_view) for every view in `value`; where that can be changed, the view
// can.
template <typename Value, typename Function>
void for_each_view(Value& value, Function&& function) {
  using T = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<T, std::string_view>) {
    function(value);
  } else if constexpr (std::is_same_v<T, TextBlock>) {
    const std::string_view view = value.view();
    function(view);
  } else if constexpr (!holds_views<T>) {
    // Owns what it has.
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](auto&... field) { (for_each_view(field, function), ...); }, value);
  } else if constexpr (requires { value.has_value(); }) {
    if (value.has_value()) for_each_view(*value, function);
  } else if constexpr (requires { value.begin(); }) {
    for (auto& element : value) for_each_view(element, function);
  } else {
    boost::pfr::for_each_field(value, [&](auto& field) { for_each_view(field, function); });
  }
}

}  // namespace detail

[[gnu::cold]] Status of_output_record(const Status& failure, std::size_t record);

// Checks the records of `batch` from `first` on.
template <typename T>
Status check_views(const Batch& batch, std::size_t first) {
  Status found;
  if constexpr (holds_views<T>) {
    const auto values = batch.values<T>();
    ViewRanges ranges(batch);
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (ranges.hold_all(values.subspan(first))) return found;
    }
    for (std::size_t i = first; i < values.size() && found.ok(); ++i) {
      detail::for_each_view(values[i], [&](std::string_view view) {
        if (!found.ok()) return;
        found = ranges.check(view);
        if (!found.ok()) found = of_output_record(found, i);
      });
    }
  }
  return found;
}

// A function of the engine's own, whose views are of its input: it says so with a constant of this
// name.
template <typename Function>
inline constexpr bool keeps_to_its_input = requires { requires Function::keeps_to_its_input; };

// What an operator's call ends with. (`always` is part of the function's name, so that the two
// forms can't be mistaken for each other by the linker.)
template <typename T, bool always = views_are_checked>
Status check_new_views(const OperatorContext& context, const Batch& in, Batch& out,
                       std::size_t first) {
  if constexpr (holds_views<T>) {
    if ((always || context.checks_views()) && out.size() > first) {
      if (in.has_storage()) out.keep_buffers_of(in);
      return check_views<T>(out, first);
    }
  }
  return {};
}

}  // namespace hummer
