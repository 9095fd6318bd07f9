// Format: one way to write records as bytes; the contract that all of them are on.
//
//   std::shared_ptr<const Format> format = csv({.separator = ';'});     // or json(), …
//   std::unique_ptr<Decoder> decoder = format->make_decoder(shape_of<Trade>());
//
// A job says decode<Trade>(stream, format) and encode(stream, format) (hummer/formats/streams.hpp);
// what is here is for those who write a format.
//
// A decoder is given buffers, and makes as many records of one as there is room for, in a batch, by
// one call: nothing virtual, no allocation and no lock per record. Three kinds of input fit:
//
//   a file of lines     blocks of many whole records; the first block of an input, at offset 0, has
//                       the head, such as a header. Whoever reads only a part of a file is handed
//                       its first line ahead of that (FileSourceOptions::repeat_first_line)
//   messages            a buffer is an input by itself, with one record or more and without a head
//   a container file    as a file of lines, cut where the format has marks (its RecordFraming says
//                       so: FileSourceOptions::framing); the head has the schema
//
// Order of calls, of each buffer: begin once, at its start; decode until it answers anything but
// `full` (then again, with an empty batch and the same buffer). After bad_record and end_of_record
// it goes on behind that record.
//
// Records are made in the memory of a batch. Views in them point into the buffer, or into the
// batch's own text (Batch::allocate_text) where the format had to rewrite the text.
//
// Thread: a format is immutable; decoder and encoder belong to one operator. Errors: a record that
// can't be read is bad_record, which the job's failure policy decides on; what makes the whole
// input unreadable, such as a header without a column that is needed, fails the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/batch.hpp>
#include <hummer/detail/captured_values.hpp>
#include <hummer/formats/record_shape.hpp>
#include <hummer/status.hpp>
#include <hummer/text.hpp>

namespace hummer::formats {

class Decoder {
 public:
  enum class Outcome : std::uint8_t {
    done,         // the whole buffer is taken
    full,         // the batch is
    bad_record,   // the one at `at`; why() says why
    failed,       // the input as a whole; why()
    unavailable,  // what reading it needs can't be had now, such as a schema; why()
  };

  virtual ~Decoder() = default;

  // At the start of a buffer: takes the head, where there is one, and moves `at` behind it.
  virtual Status begin(const TextBlock& block, std::size_t& at) = 0;
  // Records of `text` from `at` on, which moves, behind those of `batch`, up to `limit` in all.
  virtual Outcome decode(std::string_view text, std::size_t& at, Batch& batch,
                         std::size_t limit) = 0;
  // Behind the record that begins at `at`: past what ends it.
  virtual std::size_t end_of_record(std::string_view text, std::size_t at) const = 0;
  // After bad_record: moves `at` behind it; its bytes, without what ends it.
  virtual std::string_view skip_record(std::string_view text, std::size_t& at) {
    const std::size_t begin = std::exchange(at, end_of_record(text, at));
    const std::string_view skipped = text.substr(begin, at - begin);
    return skipped.substr(0, skipped.size() - (skipped.ends_with('\n') ? 1 : 0));
  }
  // Whether a place in it is a line.
  virtual bool has_lines() const { return true; }

  const std::string& why() const { return why_; }

 protected:
  std::string why_;
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Before the first record; a failure fails the job.
  virtual Status open() { return {}; }
  // Appends the record, and what ends it (but in `message`, which is one record by itself).
  virtual void encode(const void* record, std::string& text) = 0;
  virtual void encode_message(const void* record, std::string& text) = 0;
  // Makes of the records that encode() has appended to the empty `text` a whole part of a file.
  virtual void end_block(std::string& /*text*/) {}
  // Whether files are lines.
  virtual bool has_lines() const { return true; }
};

class Format {
 public:
  virtual ~Format() = default;
  virtual std::string_view name() const = 0;
  // Whether it can say records of this shape, with its options; invalid_argument, which execute()
  // answers.
  virtual Status check(const RecordShape& shape) const = 0;
  virtual Status check_writing(const RecordShape& shape) const { return check(shape); }
  // Whether an input has a head; messages must have none.
  virtual bool has_head() const = 0;
  virtual std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const = 0;
  virtual std::unique_ptr<Encoder> make_encoder(const RecordShape& shape) const = 0;
  // What a file of records begins with.
  virtual std::string head(const RecordShape& shape) const = 0;
  // The options, which client and workers compare.
  virtual CapturedValues captured() const = 0;
};

}  // namespace hummer::formats
