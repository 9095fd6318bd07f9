// field<&Settings::member>(row): an option whose value is that member; option.hpp says what a row
// is.
//
// Members of members: field<&Settings::access, &ClusterAccess::token_file>. Types: bool, integers,
// double, std::string, std::vector<std::string>, and enumerations whose values 0, 1, ... are the
// row's choices in order.
//
// options_of(groups...) makes a program's table of arrays of rows, which must be of one struct.
#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/option.hpp"

namespace hummer {

template <typename Settings>
struct OptionOf {
  Option option;
};

namespace option_field_detail {

template <typename Pointer>
struct Member;
template <typename Type, typename Owner_>
struct Member<Type Owner_::*> {
  using Owner = Owner_;
};

template <auto first, auto... rest, typename Settings>
constexpr auto& reach(Settings& settings) {
  if constexpr (sizeof...(rest) == 0) {
    return settings.*first;
  } else {
    return reach<rest...>(settings.*first);
  }
}

template <auto first, auto...>
struct FirstOwner {
  using Type = typename Member<decltype(first)>::Owner;
};

template <typename Type>
constexpr bool is_list = std::is_same_v<Type, std::vector<std::string>>;

template <typename Type>
constexpr OptionType type_of_member() {
  if constexpr (std::is_same_v<Type, bool>) {
    return OptionType::on_off;
  } else if constexpr (std::is_enum_v<Type>) {
    return OptionType::choice;
  } else if constexpr (std::is_integral_v<Type>) {
    return OptionType::integer;
  } else if constexpr (std::is_floating_point_v<Type>) {
    return OptionType::decimal;
  } else {
    return OptionType::text;
  }
}

template <typename Type>
void store_member(const Option& option, const OptionValue& value, Type& member) {
  if constexpr (std::is_same_v<Type, bool>) {
    member = value.on != option.negated;
  } else if constexpr (std::is_enum_v<Type>) {
    for (std::size_t i = 0; i < option.choices.size(); ++i) {
      if (option.choices[i] == value.texts.front()) member = static_cast<Type>(i);
    }
  } else if constexpr (std::is_integral_v<Type>) {
    member = static_cast<Type>(value.integer);
  } else if constexpr (std::is_floating_point_v<Type>) {
    member = value.decimal;
  } else if constexpr (is_list<Type>) {
    member = value.texts;
  } else {
    member = value.texts.front();
  }
}

template <typename Type>
OptionValue load_member(const Option& option, const Type& member) {
  OptionValue value;
  if constexpr (std::is_same_v<Type, bool>) {
    value.on = member != option.negated;
  } else if constexpr (std::is_enum_v<Type>) {
    value.texts.emplace_back(option.choices[static_cast<std::size_t>(member)]);
  } else if constexpr (std::is_integral_v<Type>) {
    value.integer = static_cast<std::int64_t>(member);
  } else if constexpr (std::is_floating_point_v<Type>) {
    value.decimal = member;
  } else if constexpr (is_list<Type>) {
    value.texts = member;
  } else {
    value.texts.push_back(member);
  }
  return value;
}

}  // namespace option_field_detail

template <auto... path>
constexpr auto field(Option row) {
  using Settings = typename option_field_detail::FirstOwner<path...>::Type;
  using Type = std::remove_reference_t<decltype(option_field_detail::reach<path...>(
      std::declval<Settings&>()))>;
  if (row.type == OptionType::of_member) row.type = option_field_detail::type_of_member<Type>();
  row.many = option_field_detail::is_list<Type>;
  row.store = [](const Option& option, const OptionValue& value, void* settings) {
    option_field_detail::store_member(
        option, value, option_field_detail::reach<path...>(*static_cast<Settings*>(settings)));
  };
  row.load = [](const Option& option, const void* settings) {
    return option_field_detail::load_member(
        option, option_field_detail::reach<path...>(*static_cast<const Settings*>(settings)));
  };
  return OptionOf<Settings>{row};
}

// A switch that makes the member false: --no-chaining.
template <auto... path>
constexpr auto negated_field(Option row) {
  row.negated = true;
  return field<path...>(row);
}

// An option that is no member: who reads it does so before all others.
template <typename Settings>
constexpr OptionOf<Settings> row_without_field(const Option& row) {
  return {row};
}

template <typename Settings, std::size_t... sizes>
constexpr auto options_of(const std::array<OptionOf<Settings>, sizes>&... groups) {
  std::array<Option, (sizes + ...)> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& group) {
    for (const OptionOf<Settings>& each : group) all[at++] = each.option;
  };
  (append(groups), ...);
  return all;
}

}  // namespace hummer
