// RecordStream: records of the batch core, by the span.
//
//   for (;;) {
//     auto records = stream.next();
//     if (!records.ok()) return records.status();
//     if (records->empty()) break;              // the end
//     for (const RecordView& record : *records) use(record.key(), record.value());
//   }
//
// A record is a key and a value, both bytes. Views hold until the next call of next() on the same
// stream, or its end. After the end or a failure next() is not called again.
//
// Thread: one. Cost: a virtual call per span, which has some hundreds of records where they are
// small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer::batch {

struct RecordView {
  const char* key_data = nullptr;
  const char* value_data = nullptr;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;

  std::string_view key() const { return {key_data, key_bytes}; }
  std::string_view value() const { return {value_data, value_bytes}; }
};

class RecordStream {
 public:
  virtual ~RecordStream() = default;
  // Empty: the end.
  virtual Result<std::span<const RecordView>> next() = 0;
};

}  // namespace hummer::batch
