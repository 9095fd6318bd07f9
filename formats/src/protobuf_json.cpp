#include "protobuf_json.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include "base64.hpp"
#include "protobuf_wire.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

// Messages of Protobuf's own that hold a value and nothing else.
struct WrapperType {
  std::string_view name;
  ProtoType type;
};
constexpr std::array<WrapperType, 9> wrapper_types{
    {{"google.protobuf.DoubleValue", ProtoType::float64},
     {"google.protobuf.FloatValue", ProtoType::float32},
     {"google.protobuf.Int64Value", ProtoType::int64},
     {"google.protobuf.UInt64Value", ProtoType::uint64},
     {"google.protobuf.Int32Value", ProtoType::int32},
     {"google.protobuf.UInt32Value", ProtoType::uint32},
     {"google.protobuf.BoolValue", ProtoType::boolean},
     {"google.protobuf.StringValue", ProtoType::string},
     {"google.protobuf.BytesValue", ProtoType::bytes}}};
constexpr std::string_view timestamp_name = "google.protobuf.Timestamp";
constexpr std::string_view duration_name = "google.protobuf.Duration";

const ProtoMessage& seconds_and_nanos() {
  static const ProtoMessage message{
      .name = "google.protobuf.Timestamp",
      .members = {{.name = "seconds", .number = 1, .type = ProtoType::int64},
                  {.name = "nanos", .number = 2, .type = ProtoType::int32}}};
  return message;
}

bool is_well_known(const std::string& name) {
  return name == timestamp_name || name == duration_name ||
         std::any_of(wrapper_types.begin(), wrapper_types.end(),
                     [&](const WrapperType& each) { return each.name == name; });
}

bool holds_message(const ProtoMember& member) {
  return member.type == ProtoType::message || member.type == ProtoType::group;
}

// What repeats such a message is a map; a descriptor may say so of what is none.
bool is_map_entry(const ProtoMessage& message) {
  if (!message.map_entry || message.members.size() != 2) return false;
  const ProtoMember& key = message.members[0];
  return !key.repeated && !holds_message(key) && !message.members[1].repeated;
}

// None, three, six or nine digits.
void append_fraction(std::int64_t nanos, std::string& to) {
  if (nanos == 0) return;
  std::string digits = std::to_string(1'000'000'000 + nanos).substr(1);
  while (digits.ends_with("000")) digits.resize(digits.size() - 3);
  to += '.' + digits;
}

}  // namespace

Status ProtobufJson::check() const {
  std::set<std::string> seen{message_.name};
  std::vector<const ProtoMessage*> left{&message_};
  while (!left.empty()) {
    const ProtoMessage& message = *left.back();
    left.pop_back();
    for (const ProtoMember& member : message.members) {
      if (!holds_message(member) || is_well_known(member.type_name)) continue;
      const ProtoMessage* const part = schema_.find(member.type_name);
      if (part == nullptr) {
        return {ErrorCode::invalid_argument,
                message.name + "." + member.name + " is a " + member.type_name +
                    ", which is not in the descriptors: make them by protoc --include_imports"};
      }
      if (seen.insert(part->name).second) left.push_back(part);
    }
  }
  return {};
}

bool ProtobufJson::append(std::string_view bytes, std::string& text) {
  text_ = &text;
  first_ = text.size();
  place_.clear();
  bool known = false;
  const bool well = append_known(message_.name, bytes, known);
  return known ? well : append_message(message_, bytes, 0);
}

std::string ProtobufJson::why() const {
  return place_.empty() ? what_ : "'" + place_ + "': " + what_;
}

bool ProtobufJson::wrong(const char* what) {
  what_ = what;
  return false;
}

const char* ProtobufJson::skip(std::uint32_t tag, const char* at, const char* end) {
  const SkippedField skipped = skip_field(tag, at, end);
  if (skipped.behind == nullptr) wrong(skipped.why);
  return skipped.behind;
}

bool ProtobufJson::append_message(const ProtoMessage& message, std::string_view bytes, int depth) {
  if (depth > deepest_shown_value) return wrong("messages are nested too deeply");
  Values values(message.members.size());
  return gather(message, bytes, values) && append_members(message, values, depth);
}

bool ProtobufJson::gather(const ProtoMessage& message, std::string_view bytes, Values& values) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::size_t next = 0;  // the member that is likely to come
  while (at != end) {
    std::uint64_t tag = 0;
    at = read_varint(at, end, tag);
    if (at == nullptr || tag > UINT32_MAX) return wrong("there is no field's number");
    if (tag >> 3 == 0) return wrong("a field has the number 0");
    std::size_t looked = 0;
    while (looked < values.size() && message.members[next % values.size()].number != tag >> 3) {
      ++looked;
      ++next;
    }
    if (looked == values.size()) {
      at = skip(static_cast<std::uint32_t>(tag), at, end);
      if (at == nullptr) return false;
      continue;
    }
    next %= values.size();
    const ProtoMember& member = message.members[next];
    const std::size_t before = values[next].size();
    at = gather_one(member, static_cast<std::uint32_t>(tag), at, end, values[next]);
    if (at == nullptr) {
      place_ = member.name;
      return false;
    }
    if (!member.choice || values[next].size() == before) continue;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != next && message.members[i].choice == member.choice) values[i].clear();
    }
  }
  return true;
}

const char* ProtobufJson::gather_one(const ProtoMember& member, std::uint32_t tag, const char* at,
                                     const char* end, std::vector<Value>& values) {
  const auto wire = static_cast<ProtoWire>(tag & 7);
  const ProtoWire own = wire_of(member.type);
  const auto take = [&](const char* from, const char* last) -> const char* {
    Value value;
    if (own == ProtoWire::varint) {
      from = read_varint(from, last, value.bits);
    } else {
      const std::size_t size = own == ProtoWire::fixed64 ? 8 : 4;
      if (static_cast<std::size_t>(last - from) < size) return nullptr;
      std::memcpy(&value.bits, from, size);
      from += size;
    }
    if (from != nullptr) values.push_back(value);
    return from;
  };
  const bool packed = member.repeated && wire == ProtoWire::sized && own != ProtoWire::sized &&
                      own != ProtoWire::group;
  if (wire != own && !packed) {
    // Of another type than it has: what does not know the field passes it over.
    return skip(tag, at, end);
  }
  if (own == ProtoWire::group) {
    const SkippedField group = skip_field(tag, at, end);
    if (group.behind == nullptr) {
      wrong(group.why);
    } else {
      values.push_back({.bytes = {at, static_cast<std::size_t>(group.group_end - at)}});
    }
    return group.behind;
  }
  if (wire == ProtoWire::sized) {
    std::uint64_t size = 0;
    at = read_varint(at, end, size);
    if (at == nullptr || size > static_cast<std::size_t>(end - at)) {
      wrong(message_ends_inside);
      return nullptr;
    }
    const char* const last = at + size;
    if (!packed) values.push_back({.bytes = {at, static_cast<std::size_t>(size)}});
    while (packed && at != nullptr && at != last) at = take(at, last);
    if (!packed) at = last;
  } else {
    at = take(at, end);
  }
  if (at == nullptr) {
    wrong(no_proto_number);
    return nullptr;
  }
  return at;
}

bool ProtobufJson::append_members(const ProtoMessage& message, const Values& values, int depth) {
  text_->push_back('{');
  bool first = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ProtoMember& member = message.members[i];
    if (values[i].empty()) {
      if (member.required) {
        place_ = member.name;
        return wrong("it is required, and missing");
      }
      if (member.explicit_presence && !member.repeated) continue;
    }
    if (!first) text_->push_back(',');
    first = false;
    append_shown_text(member.name, *text_);
    text_->push_back(':');
    if (!append_member(member, values[i], depth)) {
      place_ = place_.empty() ? member.name : member.name + "." + place_;
      return false;
    }
  }
  text_->push_back('}');
  return true;
}

bool ProtobufJson::append_member(const ProtoMember& member, const std::vector<Value>& values,
                                 int depth) {
  if (!member.repeated) {
    if (!holds_message(member) || values.size() < 2) {
      return append_value(member, values.empty() ? nullptr : &values.back(), depth);
    }
    std::string merged;
    for (const Value& value : values) merged += value.bytes;
    return append_nested(member, merged, depth);
  }
  const ProtoMessage* const part = holds_message(member) ? schema_.find(member.type_name) : nullptr;
  if (part != nullptr && is_map_entry(*part)) return append_map(*part, values, depth);
  text_->push_back('[');
  for (const Value& value : values) {
    if (&value != &values.front()) text_->push_back(',');
    if (!append_value(member, &value, depth)) return false;
  }
  text_->push_back(']');
  return true;
}

bool ProtobufJson::append_map(const ProtoMessage& entry, const std::vector<Value>& values,
                              int depth) {
  const ProtoMember& key = entry.members[0];
  const std::size_t begin = text_->size();
  std::vector<std::string> keys;
  std::map<std::string_view, std::size_t> last;  // of equal keys the last one counts
  keys.reserve(values.size());
  for (const Value& value : values) {
    Values parts(entry.members.size());
    if (!gather(entry, value.bytes, parts)) return false;
    if (!append_value(key, parts[0].empty() ? nullptr : &parts[0].back(), depth)) return false;
    keys.push_back(text_->substr(begin));
    text_->resize(begin);
    if (!keys.back().starts_with('"')) keys.back() = '"' + keys.back() + '"';
    last[keys.back()] = keys.size() - 1;
  }
  text_->push_back('{');
  bool first = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (last[keys[i]] != i) continue;
    if (!first) text_->push_back(',');
    first = false;
    *text_ += keys[i];
    text_->push_back(':');
    Values parts(entry.members.size());
    if (!gather(entry, values[i].bytes, parts)) return false;
    if (!append_member(entry.members[1], parts[1], depth + 1)) return false;
  }
  text_->push_back('}');
  return true;
}

bool ProtobufJson::append_value(const ProtoMember& member, const Value* value, int depth) {
  if (text_->size() - first_ > most_) return wrong("the record is too long");
  if (holds_message(member)) {
    return append_nested(member, value == nullptr ? std::string_view() : value->bytes, depth);
  }
  if (value == nullptr) {
    append_default(member);
  } else if (member.type == ProtoType::string) {
    append_shown_text(value->bytes, *text_);
  } else if (member.type == ProtoType::bytes) {
    *text_ += '"' + to_base64(value->bytes) + '"';
  } else {
    append_number_of(member, value->bits);
  }
  return true;
}

// Only of what does not know whether it is there: 0, nothing, an enum's first value.
void ProtobufJson::append_default(const ProtoMember& member) {
  std::uint64_t bits = 0;
  if (member.type == ProtoType::string || member.type == ProtoType::bytes) {
    *text_ += "\"\"";
    return;
  }
  if (member.type == ProtoType::enumeration) {
    const auto found = schema_.enumerations.find(member.type_name);
    if (found != schema_.enumerations.end() && !found->second.empty()) {
      bits = static_cast<std::uint64_t>(std::int64_t{found->second.front().second});
    }
  }
  append_number_of(member, bits);
}

// As Protobuf has it: an int32 is what the lower half is, whatever comes with it.
void ProtobufJson::append_number_of(const ProtoMember& member, std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  switch (member.type) {
    case ProtoType::float64: return append_shown_real(std::bit_cast<double>(bits), *text_);
    case ProtoType::float32: return append_shown_real(std::bit_cast<float>(low), *text_);
    case ProtoType::boolean: *text_ += bits != 0 ? "true" : "false"; return;
    case ProtoType::int64:
    case ProtoType::sfixed64: return append_number(static_cast<std::int64_t>(bits), *text_);
    case ProtoType::sint64: return append_number(unfolded(bits), *text_);
    case ProtoType::uint64:
    case ProtoType::fixed64: return append_number(bits, *text_);
    case ProtoType::uint32:
    case ProtoType::fixed32: return append_number(low, *text_);
    case ProtoType::sint32: return append_number(static_cast<std::int32_t>(unfolded(low)), *text_);
    case ProtoType::enumeration: {
      const auto found = schema_.enumerations.find(member.type_name);
      if (found == schema_.enumerations.end()) break;
      for (const auto& [name, number] : found->second) {
        if (number == static_cast<std::int32_t>(low)) return append_shown_text(name, *text_);
      }
      break;
    }
    default: break;
  }
  append_number(static_cast<std::int32_t>(low), *text_);
}

bool ProtobufJson::append_nested(const ProtoMember& member, std::string_view bytes, int depth) {
  if (text_->size() - first_ > most_) return wrong("the record is too long");
  bool known = false;
  const bool well = append_known(member.type_name, bytes, known);
  if (known) return well;
  return append_message(*schema_.find(member.type_name), bytes, depth + 1);
}

bool ProtobufJson::append_known(const std::string& name, std::string_view bytes, bool& known) {
  for (const WrapperType& each : wrapper_types) {
    if (each.name != name) continue;
    known = true;
    const ProtoMessage wrapper{.name = name,
                               .members = {{.name = "value", .number = 1, .type = each.type}}};
    Values values(1);
    return gather(wrapper, bytes, values) && append_member(wrapper.members[0], values[0], 0);
  }
  known = name == timestamp_name || name == duration_name;
  if (!known) return true;
  const ProtoMessage& message = seconds_and_nanos();
  Values values(message.members.size());
  if (!gather(message, bytes, values)) return false;
  const auto number = [&](std::size_t member) {
    return values[member].empty() ? 0 : static_cast<std::int64_t>(values[member].back().bits);
  };
  const std::int64_t seconds = number(0);
  const std::int64_t nanos = static_cast<std::int32_t>(number(1));
  constexpr std::int64_t second = 1'000'000'000;
  const std::size_t begin = text_->size();
  if (name == timestamp_name && nanos >= 0 && nanos < second) {
    append_shown_moment(seconds, 0, false, *text_);
    if (text_->ends_with('"')) {
      text_->pop_back();
      append_fraction(nanos, *text_);
      *text_ += "Z\"";
      return true;
    }
    text_->resize(begin);
  }
  constexpr std::int64_t most_seconds = 315'576'000'000;
  const bool one_sign = (seconds >= 0 && nanos >= 0) || (seconds <= 0 && nanos <= 0);
  if (name == duration_name && one_sign && seconds >= -most_seconds && seconds <= most_seconds &&
      std::abs(nanos) < second) {
    *text_ += seconds < 0 || nanos < 0 ? "\"-" : "\"";
    append_number(std::abs(seconds), *text_);
    append_fraction(std::abs(nanos), *text_);
    *text_ += "s\"";
    return true;
  }
  // What has no such text is shown as it is.
  return append_members(message, values, 0);
}

}  // namespace hummer::formats
