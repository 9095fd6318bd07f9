#include "map_results.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "batch/merger.hpp"
#include "batch/spill_file.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t least_segment_buffer_bytes = std::size_t{4} << 10;
constexpr std::size_t most_segment_buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t most_files_at_once = 100;

}  // namespace

void MapResults::add_collection(std::unique_ptr<MapCollection> collection) {
  const std::lock_guard lock(mutex_);
  collections_.push_back(std::move(collection));
}

Status MapResults::add_file(const std::string& path, std::size_t largest_record_bytes) {
  auto index_file = run_.platform.files().open_for_reading(path + ".index");
  if (!index_file.ok()) return index_file.status();
  auto index = read_segment_index(**index_file);
  if (!index.ok()) return index.status();
  const std::lock_guard lock(mutex_);
  files_.push_back({path, std::move(*index), nullptr});
  largest_record_bytes_ = std::max(largest_record_bytes_, largest_record_bytes);
  return Status();
}

Status MapResults::end_maps() {
  const std::size_t most = streams_in(run_.memory_per_thread(), largest_record_bytes_,
                                      least_segment_buffer_bytes, most_files_at_once);
  while (files_.size() > most) {
    if (run_.is_stopping.load(std::memory_order_relaxed)) {
      return Status(ErrorCode::cancelled, "the job was stopped");
    }
    HUMMER_TRY(merge_files(std::min(files_.size() - most + 1, most)));
  }
  return open_files(files_.size());
}

Status MapResults::open_files(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (files_[i].file != nullptr) continue;
    auto file = run_.platform.files().open_for_reading(files_[i].path);
    if (!file.ok()) return file.status();
    files_[i].file = std::move(*file);
  }
  return Status();
}

Status MapResults::merge_files(std::size_t count) {
  Files& files = run_.platform.files();
  const std::string path =
      fmt::format("{}/merged-{:05}.out", run_.output.temporary_path(), merges_++);
  HUMMER_TRY(open_files(count));
  auto written = files.open_for_writing(path, WriteMode::truncate);
  if (!written.ok()) return written.status();
  SegmentWriter writer(**written, run_.codec);
  SegmentIndex index;
  for (std::uint32_t partition = 0; partition < run_.reducers; ++partition) {
    std::vector<std::unique_ptr<RecordStream>> streams;
    for (std::size_t i = 0; i < count; ++i) streams.push_back(open(files_[i], partition, count));
    Merger merger(run_.order(), std::move(streams));
    auto appended = append_all(merger, writer);
    if (!appended.ok()) return appended.status();
    auto place = writer.finish();
    if (!place.ok()) return place.status();
    index.places.push_back(*place);
  }
  HUMMER_TRY((*written)->close());
  for (std::size_t i = 0; i < count; ++i) {
    HUMMER_TRY(files.remove(files_.front().path));
    files_.pop_front();
  }
  files_.push_back({path, std::move(index), nullptr});
  return Status();
}

std::unique_ptr<RecordStream> MapResults::open(const File& file, std::uint32_t partition,
                                               std::size_t files) const {
  const std::size_t buffer_bytes =
      std::clamp(run_.memory_per_thread() / std::max(files, std::size_t{1}),
                 least_segment_buffer_bytes, most_segment_buffer_bytes);
  return std::make_unique<SegmentReader>(*file.file, file.index.places[partition], run_.codec,
                                         buffer_bytes);
}

Result<std::vector<std::unique_ptr<RecordStream>>> MapResults::streams(std::uint32_t partition) {
  std::vector<OutputCollector*> collectors;
  for (const auto& collection : collections_) collectors.push_back(&collection->collector());
  auto all = take_of_all(collectors, partition);
  if (!all.ok()) return all;
  for (const File& file : files_) all->push_back(open(file, partition, files_.size()));
  return all;
}

void MapResults::count(Counters& counters) const {
  for (const auto& collection : collections_) collection->count(counters);
}

}  // namespace hummer::batch
