// RecordTail: the last records of one source that is no lines, and those that come: what
// `hummer tail` does with Avro's files and Protobuf's.
//
//   RecordTail tail(*reader, printer, 10);             // 0: each record as it comes
//   tail.add(bytes);  …  tail.finish();
//
// find_last_records says how much of a file that can be read anywhere need not be kept for that,
// and passes over most of a unit that is longer than a step.
//
//   const LastRecords last = *find_last_records(*file, size, *reader, 10, 64 << 10);
//   tail.add(head of last.head_bytes);  tail.go_on_at(last.begin);  tail.add(what stands there);
//
// Bad records are said by the printer, and those of the units behind them are read. What is no unit
// can't be passed over: it is a failure, ahead of which what was kept may be said.
//
// Thread: one. Memory: the units that the last records are in, each at most largest_unit_bytes.
// Errors: corrupt_file for what is no unit, with its byte; limit_exceeded for one that is longer;
// of find_last_records, those of the file.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "cli/record_reader.hpp"
#include "cli/tail_printer.hpp"
#include "platform/files.hpp"

namespace hummer {

inline constexpr std::size_t largest_unit_bytes = 64 << 20;

class RecordTail {
 public:
  RecordTail(RecordReader& reader, TailPrinter& printer, std::uint64_t most)
      : reader_(reader), printer_(printer), most_(most) {}

  Status add(std::string_view bytes);
  // What is added next stands there in the source. REQUIRES: nothing is left of what was added.
  void go_on_at(std::uint64_t place) { place_ = place; }
  // Says what was kept, and from now on each record as it comes.
  void say_kept();
  // That nothing comes any more: corrupt_file where a unit is not whole.
  Status finish();

 private:
  struct Unit {
    std::string bytes;
    std::uint64_t records = 0;
    std::uint64_t place = 0;
  };

  Status take_head();
  void take(std::string_view bytes, std::uint64_t records, std::uint64_t place);
  void say(std::string_view bytes, std::uint64_t place, std::uint64_t passed_over);

  RecordReader& reader_;
  TailPrinter& printer_;
  std::uint64_t most_;
  bool begun_ = false;
  std::string open_;         // what is not a whole unit yet
  std::size_t needed_ = 1;   // of it, before there is anything to do
  std::uint64_t place_ = 0;  // of open_ in the source
  std::deque<Unit> kept_;
  std::uint64_t records_ = 0;  // in them
};

struct LastRecords {
  std::size_t head_bytes = 0;
  std::uint64_t begin = 0;  // of the unit that the first one of them is in
};

// In data[0, size), of which `step` bytes are read at a time. A file ends there for it where a unit
// is not whole or makes no sense.
Result<LastRecords> find_last_records(ReadableFile& file, std::uint64_t size, RecordReader& reader,
                                      std::uint64_t most, std::size_t step);

}  // namespace hummer
