// A batch: records as Java hands them over, many at a time (hummer.hadoop.RecordBuffer).
//
//   batch   record*
//   record  partition, key length, value length, key, value
//
// The first three are 4 bytes each, of the machine's order, at any address.
//
//   HUMMER_TRY(for_each_record(bytes, [&](std::uint32_t partition, std::string_view key,
//                                         std::string_view value) { ... return Status(); }));
//
//   append_head(batch, head);                       // to a std::string; then key and value
//
// Failures: internal, where the lengths are not those of the batch, which is our own mistake; else
// that of the function, which ends the walk.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer::hadoop {

struct RecordHead {
  std::uint32_t partition;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
};

inline void append_head(std::string& batch, RecordHead head) {
  batch.append(reinterpret_cast<const char*>(&head), sizeof head);
}

template <typename Function>
Status for_each_record(std::string_view batch, Function&& function) {
  const char* at = batch.data();
  const char* const end = at + batch.size();
  while (at != end) {
    RecordHead head{};
    const auto left = static_cast<std::size_t>(end - at);
    if (left < sizeof head) return {ErrorCode::internal, "a batch of records ends within a head"};
    std::memcpy(&head, at, sizeof head);
    const std::size_t key_bytes = head.key_bytes;
    const std::size_t value_bytes = head.value_bytes;
    if (key_bytes + value_bytes > left - sizeof head) {
      return {ErrorCode::internal, "a batch of records ends within a record"};
    }
    at += sizeof head;
    HUMMER_TRY(function(head.partition, std::string_view(at, key_bytes),
                        std::string_view(at + key_bytes, value_bytes)));
    at += key_bytes + value_bytes;
  }
  return Status();
}

}  // namespace hummer::hadoop
