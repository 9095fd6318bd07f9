// teravalidate --output DIRECTORY [--input FILE] [--json]
//
// Reads the parts of a sorted output: whether keys are in order within and across them, how many
// records there are, and the sum of the CRC-32 of all records, as TeraValidate has it. With the
// input also whether that has the same records, by their number and sum. Exits 1 when something is
// wrong.
#include <zlib.h>

#include <cinttypes>
#include <vector>

#include "program.hpp"
#include "tera_records.hpp"

namespace {

struct Summary {
  std::uint64_t records = 0;
  std::uint64_t checksum = 0;  // of fewer than 2^32 records
  std::uint64_t out_of_order = 0;
  bool has_last = false;
  char last[terasort::key_bytes] = {};
};

void add_file(const std::string& path, Summary& summary) {
  const terasort::File file(path, O_RDONLY);
  const std::uint64_t size = file.size_bytes();
  if (size % terasort::record_bytes != 0) terasort::fail(path + " ends within a record");
  std::vector<char> buffer(10'000 * terasort::record_bytes);
  for (std::uint64_t offset = 0; offset < size;) {
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - offset));
    file.read_at(offset, buffer.data(), bytes);
    for (std::size_t at = 0; at < bytes; at += terasort::record_bytes) {
      const char* record = buffer.data() + at;
      ++summary.records;
      summary.checksum +=
          crc32_z(0, reinterpret_cast<const Bytef*>(record), terasort::record_bytes);
      if (summary.has_last && std::memcmp(summary.last, record, terasort::key_bytes) > 0) {
        ++summary.out_of_order;
      }
      std::memcpy(summary.last, record, terasort::key_bytes);
      summary.has_last = true;
    }
    offset += bytes;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const terasort::Words words(argc, argv,
                              "teravalidate --output DIRECTORY [--input FILE] [--json]");
  const double begin = terasort::seconds_now();
  Summary output;
  std::uint64_t parts = 0;
  for (;; ++parts) {
    const std::string path = terasort::part_path(words.text("output"), parts);
    if (::access(path.c_str(), R_OK) != 0) break;
    add_file(path, output);
  }
  bool is_right = output.out_of_order == 0 && parts > 0;
  if (words.has("input")) {
    Summary input;
    add_file(words.text("input"), input);
    is_right = is_right && input.records == output.records && input.checksum == output.checksum;
  }
  char more[160];
  std::snprintf(more, sizeof more,
                ", \"parts\": %" PRIu64 ", \"out_of_order\": %" PRIu64 ", \"checksum\": \"%" PRIx64
                "\", \"right\": %s",
                parts, output.out_of_order, output.checksum, is_right ? "true" : "false");
  char text[160];
  std::snprintf(text, sizeof text,
                "; %" PRIu64 " parts, %" PRIu64 " records out of order, checksum %" PRIx64 ": %s",
                parts, output.out_of_order, output.checksum, is_right ? "right" : "WRONG");
  terasort::report(words, "teravalidate", output.records, terasort::seconds_now() - begin, more,
                   text);
  return is_right ? 0 : 1;
}
