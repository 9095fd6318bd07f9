#include "protobuf_wire.hpp"

#include <cstddef>

#include "varint.hpp"

namespace hummer::formats {
namespace {

SkippedField skip_group(std::uint32_t tag, const char* at, const char* end, int depth) {
  if (depth == deepest_group) return {.why = "groups are nested too deeply"};
  while (true) {
    const char* const before = at;
    std::uint64_t inner = 0;
    at = read_varint(at, end, inner);
    if (at == nullptr || inner > UINT32_MAX) return {.why = "the message ends inside of a group"};
    if ((inner & 7) == static_cast<unsigned>(ProtoWire::end)) {
      if (inner >> 3 == tag >> 3) return {.behind = at, .group_end = before};
      return {.why = "a group ends that did not begin"};
    }
    const SkippedField skipped = skip_field(static_cast<std::uint32_t>(inner), at, end, depth + 1);
    if (skipped.behind == nullptr) return skipped;
    at = skipped.behind;
  }
}

}  // namespace

SkippedField skip_field(std::uint32_t tag, const char* at, const char* end, int depth) {
  std::uint64_t number = 0;
  std::uint64_t size = 0;
  switch (static_cast<ProtoWire>(tag & 7)) {
    case ProtoWire::varint: at = read_varint(at, end, number); break;
    case ProtoWire::fixed64: size = 8; break;
    case ProtoWire::fixed32: size = 4; break;
    case ProtoWire::sized: at = read_varint(at, end, size); break;
    case ProtoWire::group: return skip_group(tag, at, end, depth);
    default: return {.why = "a field is of no type that there is"};
  }
  if (at == nullptr || size > static_cast<std::size_t>(end - at)) {
    return {.why = "the message ends inside of a field"};
  }
  return {.behind = at + size};
}

}  // namespace hummer::formats
