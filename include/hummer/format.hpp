// format_record: a record as one line of text, for print() and write_file().
//
// Arithmetic values in their shortest exact form, bool as true or false, text
// as it is, an empty optional as nothing. The fields of a pair, tuple, array or
// aggregate are separated by TABs; inside another value they become (a,b), and
// arrays and vectors [a,b]. Text is not escaped: what a field holds is what the
// file gets, TABs and line ends too.
//
// A type of your own: `void format_record(const T&, std::string&)` in its
// namespace, which appends, or operator<< (include <ostream>); they come before reflection.
//
// Thread: no state. Cost: no allocation but the growth of `out` (operator<<
// goes through a string stream).
#pragma once

#include <hummer/detail/format_value.hpp>

namespace hummer {

// format_record(record, out) appends the record to `out`, without a line end.
inline constexpr detail::FormatRecord format_record{};

}  // namespace hummer
