// FetchedOutput: what one map task has for this reduce task, as it comes over the net: a segment of
// Hadoop's IFile, in memory or in a file without a name.
//
//   auto output = FetchedOutput::in_memory(place);       // or in_file(platform, directory, place)
//   (*output)->receive(bytes);                           // as they come
//   (*output)->complete();                               // all are there, and the CRC is right
//   (*output)->open(codec, buffer_bytes);                // a RecordStream
//
// Failures: corrupt_file, a CRC that is another one, or another number of bytes than was announced.
//
// Thread: one at a time. It outlives its streams.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "batch/segment.hpp"
#include "platform/nameless_file.hpp"

namespace hummer::hadoop {

class FetchedOutput {
 public:
  static Result<std::unique_ptr<FetchedOutput>> in_memory(batch::SegmentPlace place);
  static Result<std::unique_ptr<FetchedOutput>> in_file(Platform& platform,
                                                        const std::string& directory,
                                                        batch::SegmentPlace place);
  ~FetchedOutput();
  FetchedOutput(const FetchedOutput&) = delete;
  FetchedOutput& operator=(const FetchedOutput&) = delete;

  Status receive(std::string_view bytes);
  Status complete();
  std::unique_ptr<batch::RecordStream> open(batch::Codec codec, std::size_t buffer_bytes) const;
  std::uint64_t stored_bytes() const { return place_.stored_bytes; }
  bool is_in_memory() const { return memory_ != nullptr; }

 private:
  class Memory;
  FetchedOutput(batch::SegmentPlace place, std::unique_ptr<Memory> memory, NamelessFile file);

  const batch::SegmentPlace place_;
  std::unique_ptr<Memory> memory_;
  NamelessFile file_;  // without memory
  std::unique_ptr<ReadableFile> written_;
  std::uint64_t received_ = 0;
  std::uint32_t crc_ = 0;
  std::uint32_t crc_in_segment_ = 0;
};

}  // namespace hummer::hadoop
