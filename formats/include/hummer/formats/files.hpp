// Files that keep coming and files that are rolled (hummer/files.hpp), in a format:
//
//   auto trades = decode<Trade>(follow_files(env, "/in", {.file = csv_file({})}), csv());
//   write_files(trades, "/out", csv(), {.roll_ms = 900'000, .suffix = ".csv"},
//               hourly(&Trade::time_ms));
//
// Each file begins with the format's head, where it has one.
//
// Thread: as all calls on streams. Cost: that of the format.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <hummer/files.hpp>
#include <hummer/formats/streams.hpp>

namespace hummer::formats {

// What write_files appends of a record. A copy makes an encoder of its own.
class AppendEncoded {
 public:
  AppendEncoded(std::shared_ptr<const Format> format, const RecordShape& shape)
      : captured_values(format->captured()), format_(std::move(format)), shape_(&shape) {}
  AppendEncoded(const AppendEncoded& other)
      : captured_values(other.captured_values), format_(other.format_), shape_(other.shape_) {}
  AppendEncoded& operator=(const AppendEncoded&) = delete;

  template <typename T>
  void operator()(const T& record, std::string& text) {
    if (encoder_ == nullptr) encoder_ = format_->make_encoder(*shape_);
    encoder_->encode(&record, text);
  }

  CapturedValues captured_values;  // what client and workers compare

 private:
  const std::shared_ptr<const Format> format_;
  const RecordShape* shape_;
  std::unique_ptr<Encoder> encoder_;
};

// options.head is the format's.
template <typename T, typename PartitionOf = NoPartition>
DataStream<T> write_files(const DataStream<T>& records, const std::string& path,
                          std::shared_ptr<const Format> format, RollOptions options = {},
                          PartitionOf partition_of = {}) {
  const RecordShape& shape = shape_of<T>();
  check_format(records.environment(), *format, shape, "write_files");
  options.head = format->head(shape);
  return hummer::write_files(records, path, options, std::move(partition_of),
                             AppendEncoded(std::move(format), shape));
}

}  // namespace hummer::formats
