// decode and encode: formats in a job.
//
//   auto trades = decode<Trade>(env.from_socket("127.0.0.1:9000"), json());  // DataStream<Trade>
//   auto values = decode<Trade>(messages, json());       // of a DataStream<std::string_view>
//   encode(trades, csv()).write_file("trades.csv");      // DataStream<TextBlock>
//   encode_messages(trades, json());                     // DataStream<std::string_view>
//
// A record that can't be read fails the job, with its place and why; on_failure says otherwise, as
// of every operator (hummer/failure_policy.hpp):
//
//   constexpr hummer::SideOutput<hummer::FailedRecord<std::string_view>> bad{"bad lines"};
//   auto trades = decode<Trade>(lines, csv()).on_failure(hummer::failures_to(bad));
//   trades.side_output(bad).print();                       // the bytes, the place, the reason
//
// T is an aggregate (hummer/formats/record_shape.hpp). Its std::string_views point into the input,
// which the stream keeps; std::string is a copy, which allocates where it is long.
//
// Files with a head are read where they are cut, so the decoder of a TextStream stands right behind
// its source (with the same parallelism); one that is handed a part of a file whose head it has not
// seen fails the job.
//
// Thread: as all calls on streams. Cost: see the formats; nothing per record but their work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/data_stream.hpp>
#include <hummer/formats/format.hpp>
#include <hummer/text_stream.hpp>

namespace hummer::formats {

// Makes the operators, whose types are in `type`: for those below.
std::shared_ptr<const OperatorFactory> make_decode_factory(std::shared_ptr<const Format> format,
                                                           const RecordShape& shape,
                                                           const TypeDescriptor& type,
                                                           bool messages);
enum class EncodeTo : std::uint8_t { blocks, messages, file };
std::shared_ptr<const OperatorFactory> make_encode_factory(std::shared_ptr<const Format> format,
                                                           const RecordShape& shape,
                                                           const TypeDescriptor& type, EncodeTo to);
// Refuses the job where the format can't say such records.
void check_format(StreamExecutionEnvironment& env, const Format& format, const RecordShape& shape,
                  std::string_view call, bool messages = false, bool writing = false);

template <typename T>
DataStream<T> decode(const TextStream& text, std::shared_ptr<const Format> format) {
  const RecordShape& shape = shape_of<T>();
  const DataStream<TextBlock>& blocks = text.blocks();
  check_format(blocks.environment(), *format, shape, "decode");
  const std::string name = "decode " + std::string(format->name());
  const CapturedValues captured = format->captured();
  return blocks.transform<T>(
      name, make_decode_factory(std::move(format), shape, type_of<T>(), false), false, captured);
}

template <typename T>
DataStream<T> decode(const DataStream<std::string_view>& messages,
                     std::shared_ptr<const Format> format) {
  const RecordShape& shape = shape_of<T>();
  check_format(messages.environment(), *format, shape, "decode", true);
  const std::string name = "decode " + std::string(format->name());
  const CapturedValues captured = format->captured();
  return messages.transform<T>(
      name, make_decode_factory(std::move(format), shape, type_of<T>(), true), false, captured);
}

// Whole records, ended as in files; what a file begins with is not among them.
template <typename T>
DataStream<TextBlock> encode(const DataStream<T>& records, std::shared_ptr<const Format> format) {
  const RecordShape& shape = shape_of<T>();
  check_format(records.environment(), *format, shape, "encode", false, true);
  const std::string name = "encode " + std::string(format->name());
  const CapturedValues captured = format->captured();
  return records.template transform<TextBlock>(
      name, make_encode_factory(std::move(format), shape, type_of<T>(), EncodeTo::blocks), false,
      captured);
}

// Each record by itself.
template <typename T>
DataStream<std::string_view> encode_messages(const DataStream<T>& records,
                                             std::shared_ptr<const Format> format) {
  const RecordShape& shape = shape_of<T>();
  check_format(records.environment(), *format, shape, "encode_messages", false, true);
  const std::string name = "encode " + std::string(format->name());
  const CapturedValues captured = format->captured();
  return records.template transform<std::string_view>(
      name, make_encode_factory(std::move(format), shape, type_of<T>(), EncodeTo::messages), false,
      captured);
}

// The file `path`, or the parts in it, as write_file of a DataStream has it; what it writes is
// blocks that know how many records they are.
template <typename T>
DataStream<FormattedText> write(const DataStream<T>& records, const std::string& path,
                                std::shared_ptr<const Format> format) {
  const RecordShape& shape = shape_of<T>();
  check_format(records.environment(), *format, shape, "write", false, true);
  const std::string head = format->head(shape);
  const std::string name = "encode " + std::string(format->name());
  const CapturedValues captured = format->captured();
  return records
      .template transform<FormattedText>(
          name, make_encode_factory(std::move(format), shape, type_of<T>(), EncodeTo::file), false,
          captured)
      .write_file(path, head);
}

}  // namespace hummer::formats
