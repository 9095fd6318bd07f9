// Any bytes as a segment of each codec, as a vint, and as an index: no crash, no read past the
// input, an end, the same records whatever the buffers, and what is accepted is written and read
// again as it is. Of segments the CRC is put right where the input asks for it: hardly any change
// of one agrees with it, and what is behind would never be reached.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batch/big_endian.hpp"
#include "batch/segment.hpp"
#include "batch/segment_index.hpp"
#include "batch/vint.hpp"
#include "platform/memory_file_for_test.hpp"

namespace {

using namespace hummer;
using namespace hummer::batch;

struct Outcome {
  bool ok = false;
  std::vector<std::pair<std::string, std::string>> records;

  bool operator==(const Outcome&) const = default;
};

Outcome read_all(MemoryFile& file, SegmentPlace place, Codec codec, std::size_t buffer_bytes) {
  SegmentReader reader(file, place, codec, buffer_bytes);
  Outcome outcome;
  for (;;) {
    const auto span = reader.next();
    if (!span.ok()) {
      if (span.status().message().find("fuzz") == std::string::npos) std::abort();
      return {};
    }
    if (span->empty()) break;
    for (const RecordView& record : *span) {
      outcome.records.emplace_back(record.key(), record.value());
    }
  }
  outcome.ok = true;
  return outcome;
}

void try_segment(Codec codec, std::size_t raw_bytes, bool with_right_crc, std::size_t buffer_bytes,
                 std::string stored) {
  if (with_right_crc) {
    char crc[segment_crc_bytes];
    put_big_endian(crc, static_cast<std::uint32_t>(crc32_z(
                            0, reinterpret_cast<const Bytef*>(stored.data()), stored.size())));
    stored.append(crc, sizeof crc);
  }
  if (codec == Codec::none) {
    raw_bytes = stored.size() - std::min(stored.size(), segment_crc_bytes);
  }
  const SegmentPlace place{0, raw_bytes, stored.size()};
  MemoryFile file(std::move(stored));
  const Outcome whole = read_all(file, place, codec, 1 << 20);
  if (whole != read_all(file, place, codec, buffer_bytes)) std::abort();
  if (!whole.ok) return;
  MemoryFile again;
  SegmentWriter writer(again, codec);
  for (const auto& [key, value] : whole.records) {
    if (!writer.add(key, value).ok()) std::abort();
  }
  const auto written = writer.finish();
  if (!written.ok()) std::abort();
  if (read_all(again, *written, codec, buffer_bytes) != whole) std::abort();
}

void try_index(const std::string& bytes) {
  MemoryFile file(bytes);
  const auto index = read_segment_index(file);
  if (!index.ok()) return;
  MemoryFile again;
  if (!write_segment_index(*index, again).ok() || again.bytes() != bytes) std::abort();
}

void try_vint(std::string_view bytes) {
  // In a place of that size, so that a read past it is seen.
  const std::vector<char> place(bytes.begin(), bytes.end());
  std::int64_t number = 0;
  const char* const next = read_vint(place.data(), place.data() + place.size(), number);
  if (next == nullptr) return;
  char written[max_vint_bytes];
  const char* const end = write_vint(written, number);
  std::int64_t again = 0;
  if (read_vint(written, end, again) != end || again != number) std::abort();
  if (end - written > next - place.data()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head_bytes = 4;
  constexpr unsigned kinds = 7;
  if (size < head_bytes) return 0;
  const unsigned kind = data[0] % kinds;
  const std::string bytes(reinterpret_cast<const char*>(data) + head_bytes, size - head_bytes);
  if (kind == 5) {
    try_index(bytes);
  } else if (kind == 6) {
    try_vint(bytes);
  } else {
    const std::size_t raw_bytes = data[2] | static_cast<std::size_t>(data[3]) << 8;
    try_segment(static_cast<Codec>(kind), raw_bytes, data[1] % 2 != 0, data[1], bytes);
  }
  return 0;
}
