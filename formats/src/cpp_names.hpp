// C++ source as `hummer infer` prints it: names, texts, structs.
//
//   std::set<std::string> taken;
//   cpp_name("Trade Symbol", "column1", taken)                    // "Trade_Symbol"
//   cpp_struct("Trade", {{"double", "Px", "0", "Px"}})            // struct Trade { … };
//
// Thread: functions without state.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/record_shape.hpp>

namespace hummer::formats {

// A name of an input as one of C++ that is not taken yet; `otherwise`, where it has no letter.
std::string cpp_name(std::string_view name, const std::string& otherwise,
                     std::set<std::string>& taken);

// "line_items" as the name of a type: "LineItems".
std::string camel_case(std::string_view name);

std::string quoted_in_cpp(std::string_view text);

// Of the kinds that are inferred: bool, std::int64_t, …
std::string_view cpp_type_of(ValueKind kind);

struct CppField {
  std::string type;
  std::string name;
  std::string value;  // that it has at first; empty: that of its type
  std::string named;  // in the input
};

// With its field_names, where some differ.
std::string cpp_struct(std::string_view name, const std::vector<CppField>& fields);

}  // namespace hummer::formats
