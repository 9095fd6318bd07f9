// Values of a snapshot as JSON, by the names of their types, without the program that wrote them
// (base/type_grammar.hpp).
//
//   u64, i64, bool, f64     numbers (all digits that tell them apart), true; "nan", "inf"
//   string                  text; a byte that is no UTF-8 becomes U+FFFD
//   vector, array, tuple    [1,2]        so pairs and structs without names, `evolving` too
//   bank.Account#{…}        {"id":7}     types that name their fields
//   optional                null, or the value
//   enum<u8,Colour>         its number
//   any other               {"type":"shop.Money@2","hex":"0210…"}, as the bytes that are left
//
// A cell of a keyed state is its value; where it expires {"value":…,"expires_ms":…}. A list is an
// array, a map an array of {"key":…,"value":…}, both in the order of the snapshot; windows are an
// array of {"start_ms","end_ms","value"}.
//
// Thread: functions without state. Errors: false, where the bytes are no value of the type; what
// was appended by then means nothing. Cost: linear.
#pragma once

#include <string>
#include <string_view>

#include <hummer/bytes.hpp>

#include "base/type_grammar.hpp"

namespace hummer {

void append_json_text(std::string_view text, std::string& json);
void append_json_hex(std::string_view type, std::string_view bytes, std::string& json);

// REQUIRES: can_pass_over(type).
[[nodiscard]] bool append_json_value(const ParsedType& type, ByteReader& in, std::string& json);

// `cell`: all bytes of one, of a state of the type (value<T>, list<T>, …).
[[nodiscard]] bool append_json_cell(const ParsedType& state, std::string_view cell,
                                    std::string& json);

}  // namespace hummer
