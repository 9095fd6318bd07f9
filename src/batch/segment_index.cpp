#include "batch/segment_index.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include "batch/big_endian.hpp"
#include "batch/crc32.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t index_place_bytes = 24;
constexpr std::size_t index_crc_bytes = 8;
// What a long of Java's may be.
constexpr std::uint64_t longest_number = std::numeric_limits<std::int64_t>::max();

Status index_failure(ErrorCode code, const ReadableFile& file, const std::string& what) {
  return {code, "'" + file.path() + "': " + what};
}

bool place_can_be(const SegmentPlace& place) {
  return place.raw_bytes <= longest_number && place.stored_bytes <= longest_number &&
         place.offset <= longest_number - place.stored_bytes;
}

}  // namespace

Status write_segment_index(const SegmentIndex& index, WritableFile& file) {
  const std::size_t count = index.places.size();
  if (count == 0 || count > SegmentIndex::max_partitions) {
    return {ErrorCode::invalid_argument,
            "an index '" + file.path() + "' of " + std::to_string(count) +
                " partitions: it may have 1 to " + std::to_string(SegmentIndex::max_partitions)};
  }
  std::string bytes(count * index_place_bytes + index_crc_bytes, '\0');
  char* at = bytes.data();
  for (const SegmentPlace& place : index.places) {
    for (const std::uint64_t number : {place.offset, place.raw_bytes, place.stored_bytes}) {
      put_big_endian(at, number);
      at += sizeof number;
    }
  }
  put_big_endian(at, std::uint64_t{crc32_after(0, {bytes.data(), count * index_place_bytes})});
  return file.append(bytes);
}

Result<SegmentIndex> read_segment_index(ReadableFile& file) {
  const std::uint64_t size = file.size_bytes();
  if (size < index_place_bytes + index_crc_bytes || size % index_place_bytes != index_crc_bytes) {
    return index_failure(ErrorCode::corrupt_file, file,
                         "it has " + std::to_string(size) +
                             " bytes, and an index of segments 24 for each partition and 8");
  }
  const std::uint64_t count = size / index_place_bytes;
  if (count > SegmentIndex::max_partitions) {
    return index_failure(ErrorCode::limit_exceeded, file,
                         "it is an index of " + std::to_string(count) + " partitions, at most " +
                             std::to_string(SegmentIndex::max_partitions) + " are read");
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const Result<std::size_t> read = file.read_at(0, bytes);
  if (!read.ok()) return read.status();
  if (*read != bytes.size()) {
    return index_failure(ErrorCode::file_changed, file,
                         "it became shorter: " + std::to_string(*read) + " bytes were read of " +
                             std::to_string(size));
  }
  const std::size_t crc_at = bytes.size() - index_crc_bytes;
  if (big_endian_64(bytes.data() + crc_at) != crc32_after(0, {bytes.data(), crc_at})) {
    return index_failure(ErrorCode::corrupt_file, file,
                         "the CRC at byte " + std::to_string(crc_at) + " is another one");
  }
  SegmentIndex index;
  index.places.reserve(static_cast<std::size_t>(count));
  for (std::size_t at = 0; at < crc_at; at += index_place_bytes) {
    const char* const from = bytes.data() + at;
    const SegmentPlace place{big_endian_64(from), big_endian_64(from + 8),
                             big_endian_64(from + 16)};
    if (!place_can_be(place)) {
      return index_failure(ErrorCode::corrupt_file, file,
                           "partition " + std::to_string(index.places.size()) + ", at byte " +
                               std::to_string(at) + ", lies where no segment can");
    }
    index.places.push_back(place);
  }
  return index;
}

}  // namespace hummer::batch
