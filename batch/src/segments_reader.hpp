// SegmentsReader: records of a file of segments, partition by partition
// (hummer/batch/record_reader.hpp).
//
// Thread: one. Errors: those of segments and of their index, which name the file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hummer/batch/record_reader.hpp>

#include "batch/codec.hpp"
#include "batch/segment_index.hpp"

namespace hummer::batch {

class SegmentsReader final : public RecordReader {
 public:
  static constexpr std::string_view index_suffix = ".index";

  explicit SegmentsReader(Codec codec) : codec_(codec) {}

  Status open(std::unique_ptr<SplitInput> input) override;
  Result<std::span<const RecordView>> next() override;
  std::string place_of(const RecordView& record) const override;
  std::uint64_t bytes_read() const override { return bytes_read_; }

 private:
  const Codec codec_;
  std::unique_ptr<ReadableFile> file_;
  SegmentIndex index_;
  std::size_t next_segment_ = 0;
  std::unique_ptr<SegmentReader> segment_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace hummer::batch
