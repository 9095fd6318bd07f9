// RecordOutput: where mappers, reducers and folders put their records.
//
//   output.emit(word, one);                    // copied
//   output.emit_all(records);                  // as they are, by the span, without copying them
//   output.emit_keys(words, one);              // so many records, which all have this value
//
// emit() appends to a buffer of its own, which is handed on when it is full: partitioner and
// collector (of a mapper), or the writer (of a reducer), take it in a loop of theirs. So a record
// costs two copies of some bytes, and some hundreds of them one virtual call.
//
// MapOutput is that of a mapper: what is put there goes through the partitioner to the reducers,
// or, where a job has none, to the files of the output.
//
// Errors: what fails behind it (a disk, a partitioner) is noted in status(); what comes later is
// dropped. Whoever runs the task looks at it after each call, so authors need not; one that emits
// without end in one call does.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <hummer/batch/record_stream.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

class RecordOutput {
 public:
  static constexpr std::size_t most_text_bytes = std::size_t{1} << 31;  // of a key, and of a value

  RecordOutput();
  virtual ~RecordOutput() = default;
  RecordOutput(const RecordOutput&) = delete;
  RecordOutput& operator=(const RecordOutput&) = delete;

  void emit(std::string_view key, std::string_view value) {
    const std::size_t bytes = key.size() + value.size();
    if (bytes > buffer_bytes - used_bytes_ || count_ == buffer_records) [[unlikely]] {
      if (!make_room(key, value)) return;
    }
    char* const at = buffer_.get() + used_bytes_;
    if (!key.empty()) std::memcpy(at, key.data(), key.size());
    if (!value.empty()) std::memcpy(at + key.size(), value.data(), value.size());
    views_[count_++] = {at, at + key.size(), static_cast<std::uint32_t>(key.size()),
                        static_cast<std::uint32_t>(value.size())};
    used_bytes_ += bytes;
  }

  // Views that hold until the call ends; behind what was emitted before.
  void emit_all(std::span<const RecordView> records) {
    flush();
    if (!records.empty()) hand_on(records);
  }
  // The same of records that have these keys, and all the same value.
  void emit_keys(std::span<const std::string_view> keys, std::string_view value);

  // Hands on what is in the buffer.
  void flush();

  const Status& status() const { return status_; }

 protected:
  virtual Status take(std::span<const RecordView> records) = 0;
  // For one that has a use for keys alone; else they are taken as records.
  virtual Status take_keys(std::span<const std::string_view> keys, std::string_view value);

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
  static constexpr std::size_t buffer_records = 512;

  void hand_on(std::span<const RecordView> records);
  // False: the record is larger than the buffer, and was handed on by itself.
  bool make_room(std::string_view key, std::string_view value);

  const std::unique_ptr<char[]> buffer_;
  const std::unique_ptr<RecordView[]> views_;
  std::size_t used_bytes_ = 0;
  std::size_t count_ = 0;
  Status status_;
};

class MapOutput : public RecordOutput {};

}  // namespace hummer::batch
