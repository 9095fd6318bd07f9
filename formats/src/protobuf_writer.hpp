// Records as messages of Protobuf, by a plan (protobuf_plan.hpp): fields in the order of their
// numbers.
//
// A field without presence of its own (proto3) is left out where it is 0 or empty. What can't be
// said, such as text that is no UTF-8 in a string, a number that the field's type does not have, or
// two members of a oneof, is an std::invalid_argument that names the field.
//
// Cost: nested messages are written behind a byte for their length, and moved where it takes more.
#pragma once

#include <string>

#include "protobuf_plan.hpp"

namespace hummer::formats {

// Appends the message of the record.
void write_protobuf_message(const ProtobufPlan& plan, const void* record, std::string& text);
// The same with its length ahead.
void write_protobuf_delimited(const ProtobufPlan& plan, const void* record, std::string& text);

}  // namespace hummer::formats
