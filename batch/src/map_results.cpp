#include "map_results.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hummer::batch {
namespace {

constexpr std::size_t least_segment_buffer_bytes = std::size_t{4} << 10;
constexpr std::size_t most_segment_buffer_bytes = std::size_t{1} << 20;

}  // namespace

void MapResults::add_collection(std::unique_ptr<MapCollection> collection) {
  const std::lock_guard lock(mutex_);
  collections_.push_back(std::move(collection));
}

Status MapResults::add_file(const std::string& path) {
  Files& files = run_.platform.files();
  auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  auto index_file = files.open_for_reading(path + ".index");
  if (!index_file.ok()) return index_file.status();
  auto index = read_segment_index(**index_file);
  if (!index.ok()) return index.status();
  const std::lock_guard lock(mutex_);
  files_.push_back({std::move(*file), std::move(*index)});
  return Status();
}

Result<std::vector<std::unique_ptr<RecordStream>>> MapResults::streams(std::uint32_t partition) {
  std::vector<std::unique_ptr<RecordStream>> all;
  for (const auto& collection : collections_) {
    auto taken = collection->collector().take(partition);
    if (!taken.ok()) return taken.status();
    std::move(taken->begin(), taken->end(), std::back_inserter(all));
  }
  const std::size_t buffer_bytes =
      std::clamp(run_.memory_per_thread() / std::max(files_.size(), std::size_t{1}),
                 least_segment_buffer_bytes, most_segment_buffer_bytes);
  for (const File& file : files_) {
    all.push_back(std::make_unique<SegmentReader>(*file.file, file.index.places[partition],
                                                  run_.codec, buffer_bytes));
  }
  return all;
}

void MapResults::count(Counters& counters) const {
  for (const auto& collection : collections_) collection->count(counters);
}

}  // namespace hummer::batch
