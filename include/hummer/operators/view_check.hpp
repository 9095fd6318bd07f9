// View check: finds text views that point into something that is gone.
//
// A user function may return a `std::string_view` of a local string; the loop
// goes on, and a later operator reads what happens to lie there. With the macro
// HUMMER_CHECK_VIEWS (debug builds; the same for the whole program) each
// operator looks at the views it has put out in a call: a view must lie in a
// buffer that the batch keeps, or in the image of the program or of a loaded
// library (literals, globals). Anything else fails the job: "view into a
// temporary". The operator harness makes the same check in every build.
//
// Thread: any. Cost: one range test per view and kept buffer; off in release.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

#include <hummer/batch.hpp>

namespace hummer {

#ifdef HUMMER_CHECK_VIEWS
static constexpr bool views_are_checked = true;
#else
static constexpr bool views_are_checked = false;
#endif

// Ok, or what `view` points into, such as "a view into the stack ...".
// `batch` keeps the buffers that are allowed.
Status check_view(std::string_view view, const Batch& batch);

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

// Checks the records of `batch` from `first` on.
template <typename T>
Status check_views(const Batch& batch, std::size_t first) {
  Status found;
  if constexpr (holds_views<T>) {
    const auto values = batch.values<T>();
    for (std::size_t i = first; i < values.size() && found.ok(); ++i) {
      detail::for_each_view(values[i], [&](std::string_view view) {
        if (!found.ok()) return;
        found =
            check_view(view, batch).with_context("record " + std::to_string(i) + " of the output");
      });
    }
  }
  return found;
}

// What an operator's call ends with: nothing in release builds. (`checked` is part of the
// function's name, so that the two forms can't be mistaken for each other by the linker.)
template <typename T, bool checked = views_are_checked>
Status check_new_views(const Batch& in, Batch& out, std::size_t first) {
  if constexpr (checked && holds_views<T>) {
    if (in.has_storage()) out.keep_buffers_of(in);
    return check_views<T>(out, first);
  }
  return {};
}

}  // namespace hummer
