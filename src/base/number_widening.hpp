// Which numbers hold all that another one held, by the names of their types, and which named types
// stand in the name of another: what can_read_type and the plans of a restore have in common.
//
// Thread: functions without state.
#pragma once

#include <string_view>
#include <vector>

#include <hummer/detail/saved_layouts.hpp>

namespace hummer::detail {

// none: it is no number that can widen.
NumberKind number_kind(std::string_view type);
// Whether they differ, and what was a `saved` can become an `own`.
bool is_widening(std::string_view saved, std::string_view own);

// Each "name#{…}" in a type's name, those inside of others too.
std::vector<std::string_view> named_types_in(std::string_view type);
// "bank.Account", of such a name.
std::string_view name_of_named_type(std::string_view type);

}  // namespace hummer::detail
