// SegmentIndex: where the segments of a file lie, as Hadoop's index of a spill (SpillRecord) has
// it.
//
//   index    place* crc            a place for each partition, in order, at least one
//   place    offset, raw bytes, stored bytes
//   crc      CRC-32 (IEEE) of all that is before it
//
// Each is a long of Java's, 8 bytes, big-endian. The file has nothing else in it.
//
//   SegmentIndex index;
//   index.places.push_back(*writer.finish());                 // for each partition
//   HUMMER_TRY(write_segment_index(index, index_file));       // appended by one call
//
//   Result<SegmentIndex> index = read_segment_index(index_file);
//
// Whether the segments are there says SegmentReader, which has the file that they lie in.
//
// Failures of reading: corrupt_file, by path and byte, where the length is not that of an index,
// the CRC is another one, or a place can't be; limit_exceeded above max_partitions; else those of
// the file. Thread: any, as they have no state. Cost: 24 bytes per partition, read by one call.
#pragma once

#include <cstddef>
#include <vector>

#include <hummer/status.hpp>

#include "batch/segment.hpp"
#include "platform/files.hpp"

namespace hummer::batch {

struct SegmentIndex {
  static constexpr std::size_t max_partitions = std::size_t{1} << 24;

  std::vector<SegmentPlace> places;  // by partition
};

// invalid_argument where there is no place, or there are more than max_partitions.
Status write_segment_index(const SegmentIndex& index, WritableFile& file);
Result<SegmentIndex> read_segment_index(ReadableFile& file);

}  // namespace hummer::batch
