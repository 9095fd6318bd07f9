// Segments in a file of a simulated disk: written, read, damaged.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batch/segment.hpp"
#include "platform/simulation.hpp"

namespace hummer::batch {

inline constexpr Codec all_codecs[] = {Codec::none, Codec::snappy, Codec::lz4,
                                       Codec::gzip, Codec::zstd,   Codec::zlib};

using OwnedRecords = std::vector<std::pair<std::string, std::string>>;

class SegmentFile {
 public:
  explicit SegmentFile(SimulationOptions options = {}) : node_(make_simulated_platform(options)) {}

  const std::string& path() const { return path_; }
  SimulationOptions& options() { return node_->simulation().options(); }
  Files& files() { return node_->files(); }

  std::unique_ptr<WritableFile> open_for_writing(WriteMode mode = WriteMode::truncate) {
    auto file = files().open_for_writing(path_, mode);
    EXPECT_TRUE(file.ok());
    return std::move(*file);
  }

  // All that is in the file, afterwards.
  SegmentPlace write(Codec codec, const OwnedRecords& records) {
    const auto file = open_for_writing();
    SegmentWriter writer(*file, codec);
    for (const auto& [key, value] : records) EXPECT_TRUE(writer.add(key, value).ok());
    const auto place = writer.finish();
    EXPECT_TRUE(place.ok()) << place.status().to_string();
    return *place;
  }

  // What came before a failure stands in `read_before`.
  Result<OwnedRecords> read(SegmentPlace place, Codec codec, std::size_t buffer_bytes = 1 << 20,
                            OwnedRecords* read_before = nullptr) {
    auto file = files().open_for_reading(path_);
    if (!file.ok()) return file.status();
    SegmentReader reader(**file, place, codec, buffer_bytes);
    OwnedRecords records;
    for (;;) {
      const auto span = reader.next();
      if (!span.ok()) {
        if (read_before != nullptr) *read_before = records;
        return span.status();
      }
      if (span->empty()) return records;
      for (const RecordView& record : *span) records.emplace_back(record.key(), record.value());
    }
  }

  std::string bytes() {
    auto file = files().open_for_reading(path_);
    std::string all((*file)->size_bytes(), ' ');
    EXPECT_TRUE((*file)->read_at(0, all).ok());
    return all;
  }

  void replace(const std::string& all) {
    const auto file = open_for_writing();
    ASSERT_TRUE(file->append(all).ok());
    ASSERT_TRUE(file->close().ok());
  }

 private:
  std::string path_ = "/segments";
  std::unique_ptr<SimulatedPlatform> node_;
};

}  // namespace hummer::batch
