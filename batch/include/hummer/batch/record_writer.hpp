// RecordWriter: makes bytes of the records of an output; one for each file of it.
//
//   text   key, TAB, value, "\n"; a record without a value (or without a key) is the other alone
//   raw    key and value, without anything between: records of a fixed length, or those that say
//          themselves how long they are
//   none   nothing; for jobs that count
//
// Order of calls: open, write as often as there are spans, close. Errors: those of the output.
//
// Thread: one. Cost: a copy into a buffer of 256 KiB.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/batch/record_stream.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

class ByteOutput {
 public:
  virtual ~ByteOutput() = default;
  virtual Status append(std::string_view bytes) = 0;
};

class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  // `output` outlives it.
  virtual Status open(ByteOutput& output) = 0;
  virtual Status write(std::span<const RecordView> records) = 0;
  virtual Status close() = 0;
};

struct OutputFormat {
  std::string name = {};
  bool has_files = true;
  std::function<std::unique_ptr<RecordWriter>()> make_writer = {};
};

OutputFormat text_output();
OutputFormat raw_output();
OutputFormat no_output();
// By its name. invalid_argument, with the names that there are.
Result<OutputFormat> output_format_of(std::string_view name);

}  // namespace hummer::batch
