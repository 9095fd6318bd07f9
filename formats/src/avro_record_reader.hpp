// AvroRecordReader: bytes of one record to the struct, by the steps of a plan (avro_plan.hpp).
//
//   AvroRecordReader reader;
//   reader.begin(plan, batch, end);
//   const char* behind = reader.read(at, record);            // null: it makes no sense as bytes
//   if (behind != nullptr && reader.is_bad()) …              // a value that the record can't hold
//
// A record that is bad is still read to its end, so that what is behind it is known. No byte at
// `end` or behind it is read; nothing recurses deeper than the struct, or than deepest_skipped.
//
// Thread: one at a time. Views point into the bytes, or into the batch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/batch.hpp>

#include "avro_plan.hpp"

namespace hummer::formats {

class AvroRecordReader {
 public:
  static constexpr int deepest_skipped = 64;
  // Of elements that take no bytes, such as nulls.
  static constexpr std::uint64_t most_empty_elements = 1 << 20;

  void begin(const AvroPlan& plan, Batch& batch, const char* end) {
    plan_ = &plan;
    batch_ = &batch;
    end_ = end;
  }
  const char* read(const char* at, char* record) {
    bad_ = false;
    return run(plan_->steps.data() + plan_->record, at, record);
  }
  bool is_bad() const { return bad_; }
  // Why it is, or why there is no record.
  const std::string& why() const { return why_; }

 private:
  const char* run(const AvroInstruction* step, const char* at, char* base);
  const char* run_choice(const AvroInstruction& step, const char* at, char* base);
  const char* run_list(const AvroInstruction& step, const char* at, char* base);
  const char* put_integer(const AvroInstruction& step, const char* at, void* to);
  const char* put_symbol(const AvroInstruction& step, const char* at, void* to);
  // REQUIRES: no more `size` than there is.
  void put_text(const AvroInstruction& step, const char* at, std::size_t size, void* to);
  const char* skip(const AvroType& type, const char* at, int depth);
  const char* skip_items(const AvroType& type, const char* at, int depth);
  // The head of a part of a list: how many elements; 0: the list ends. `bytes`: of them, where it
  // is said, else 0.
  const char* read_count(const char* at, std::size_t least_bytes, std::uint64_t& count,
                         std::uint64_t& bytes);
  const char* read_size(const char* at, std::uint64_t& size);

  void bad(const AvroInstruction& step, const std::string& what);
  const char* broken(const AvroInstruction* step, const char* what);

  const AvroPlan* plan_ = nullptr;
  Batch* batch_ = nullptr;
  const char* end_ = nullptr;
  bool bad_ = false;
  std::string why_;
};

}  // namespace hummer::formats
