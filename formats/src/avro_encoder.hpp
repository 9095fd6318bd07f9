// AvroEncoder: records to container files and messages, on the contract of
// hummer/formats/format.hpp; made by avro().
//
// What is written where is found out once, as for reading: each field of the schema is one of the
// struct, by name, or null where a union of the schema allows that. Numbers may be written as wider
// ones, and what does not fit at last, such as an integer above 2^63, or text that is no UTF-8 as a
// string, is an std::invalid_argument that names the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/avro.hpp>

#include "avro_codec.hpp"
#include "avro_schema.hpp"

namespace hummer::formats {

// How records of a shape are written by a schema.
class AvroRecordWriter {
 public:
  // invalid_argument: the shape can't be written so.
  static Result<AvroRecordWriter> make(AvroSchema schema, const RecordShape& shape);

  const AvroSchema& schema() const { return schema_; }
  void write(const void* record, std::string& text) const {
    write_parts(parts_, static_cast<const char*>(record), text);
  }

 private:
  struct Part {
    const AvroType* type = nullptr;
    const FieldShape* field = nullptr;  // null: nothing is written but the branch
    const ValueShape* shape = nullptr;
    std::size_t offset = 0;
    std::uint32_t branch = no_branch;  // written ahead
    std::uint32_t null_branch = no_branch;
    std::vector<Part> parts = {};  // of a record; what is in an optional, list or map
    std::vector<std::uint32_t> symbols = {};
  };
  static constexpr std::uint32_t no_branch = UINT32_MAX;

  static Status plan_record(const AvroType& type, const RecordShape& shape, std::size_t offset,
                            const std::string& path, std::vector<Part>& parts);
  static Status plan(const AvroType& type, const FieldShape& field, const ValueShape& shape,
                     std::size_t offset, const std::string& path, Part& part);
  static Status plan_choice(const AvroType& type, const FieldShape& field, const ValueShape& shape,
                            const std::string& path, Part& part);
  static bool fits(const AvroType& type, const ValueShape& shape);

  static void write_parts(const std::vector<Part>& parts, const char* base, std::string& text);
  static void write_part(const Part& part, const char* base, std::string& text);
  static void write_items(const Part& part, const void* value, std::string& text);
  static void write_text(const Part& part, std::string_view value, std::string& text);
  static void write_number(const Part& part, const void* value, std::string& text);

  AvroSchema schema_;
  std::vector<Part> parts_;
};

class AvroEncoder final : public Encoder {
 public:
  // `schema`: the text that `writer` was made of.
  AvroEncoder(Result<AvroRecordWriter> writer, std::string schema, AvroOptions options);

  Status open() override;
  void encode(const void* record, std::string& text) override {
    writer_->write(record, text);
    ++records_;
  }
  void encode_message(const void* record, std::string& text) override {
    text.append(message_head_);
    writer_->write(record, text);
  }
  void end_block(std::string& text) override;
  bool has_lines() const override { return false; }

 private:
  const Result<AvroRecordWriter> writer_;
  const std::string schema_;
  const AvroOptions options_;
  std::string mark_;
  AvroCodec codec_;
  std::string message_head_;
  std::uint64_t records_ = 0;  // of the block at hand
  std::string packed_;
};

}  // namespace hummer::formats
