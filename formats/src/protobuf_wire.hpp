// What fields of Protobuf's messages look like, whatever they mean, and what is said where they
// make no sense.
//
//   const SkippedField skipped = skip_field(tag, at, end);       // at: behind the tag
//   if (skipped.behind == nullptr) return wrong(skipped.why);
//
// No byte at `end` or behind it is read; groups are passed over as deep as deepest_group.
//
// Thread: functions without state.
#pragma once

#include <cstdint>

#include "protobuf_plan.hpp"

namespace hummer::formats {

inline constexpr int deepest_group = 64;

inline constexpr const char* message_ends_inside = "the message ends inside of it";
inline constexpr const char* no_proto_number =
    "what stands there is no number, or the message ends";

struct SkippedField {
  const char* behind = nullptr;     // null: `why`
  const char* group_end = nullptr;  // of a group: where its last tag begins
  const char* why = nullptr;
};

SkippedField skip_field(std::uint32_t tag, const char* at, const char* end, int depth = 0);

}  // namespace hummer::formats
