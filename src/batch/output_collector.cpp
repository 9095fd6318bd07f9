#include "batch/output_collector.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "batch/bucket_sort.hpp"
#include "batch/combined_records.hpp"
#include "batch/merger.hpp"
#include "batch/segment_index.hpp"
#include "batch/sorted_records.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t memory_per_buffers = 16;  // buffers take one part of so many
constexpr std::size_t most_buffers_bytes = std::size_t{64} << 20;
constexpr std::size_t least_stream_buffer = std::size_t{4} << 10;  // of one stream
constexpr std::size_t most_stream_buffer = std::size_t{1} << 20;
constexpr std::size_t combined_at_streams = 3;

std::uint64_t nanoseconds_since(const Platform& platform, Nanoseconds begin) {
  return static_cast<std::uint64_t>(platform.now() - begin);
}

// The stream as the combiner of the options leaves it; null: there is none.
std::unique_ptr<RecordStream> combine(RecordStream& stream, const CollectorOptions& options) {
  if (options.stream_combiner != nullptr) return options.stream_combiner->combine(stream);
  if (options.combiner == nullptr) return nullptr;
  return std::make_unique<CombinedRecords>(stream, options.order, *options.combiner);
}

// Of what is merged, as one stream, combined where there is something to combine with.
class MergedRecords final : public RecordStream {
 public:
  MergedRecords(const CollectorOptions& options, std::vector<std::unique_ptr<RecordStream>> streams,
                bool combines)
      : merger_(options.order, std::move(streams)),
        combined_(combines ? combine(merger_, options) : nullptr) {}
  Result<std::span<const RecordView>> next() override {
    return combined_ != nullptr ? combined_->next() : merger_.next();
  }

 private:
  Merger merger_;
  std::unique_ptr<RecordStream> combined_;
};

}  // namespace

Result<std::unique_ptr<OutputCollector>> OutputCollector::create(Platform& platform,
                                                                 CollectorOptions options) {
  if (options.partitions == 0) {
    return Status(ErrorCode::invalid_argument, "a collector needs one partition or more");
  }
  if (options.memory_bytes < least_memory_bytes) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("a collector needs {} bytes of memory or more, not {}",
                              least_memory_bytes, options.memory_bytes));
  }
  if (options.spill_directory.empty()) {
    return Status(ErrorCode::invalid_argument, "a collector needs a directory for spill files");
  }
  if (options.merge_factor < 2) {
    return Status(ErrorCode::invalid_argument, "a collector merges two streams at once or more");
  }
  if (options.takes_at_once == 0) {
    return Status(ErrorCode::invalid_argument, "one partition or more is read at once");
  }
  const std::size_t buffer_bytes =
      std::min(options.memory_bytes / memory_per_buffers, most_buffers_bytes);
  return std::unique_ptr<OutputCollector>(
      new OutputCollector(platform, std::move(options), buffer_bytes));
}

OutputCollector::OutputCollector(Platform& platform, CollectorOptions options,
                                 std::size_t buffer_bytes)
    : platform_(platform),
      options_(std::move(options)),
      buffer_bytes_(buffer_bytes),
      merge_factor_(
          std::clamp(buffer_bytes / least_stream_buffer, std::size_t{2}, options_.merge_factor)),
      arena_(options_.memory.pages == nullptr
                 ? RecordArena(options_.memory_bytes - buffer_bytes, options_.partitions)
                 : RecordArena(options_.memory, options_.memory_bytes - buffer_bytes,
                               options_.partitions)),
      buckets_(options_.partitions) {}

Status OutputCollector::collect_slowly(std::uint32_t partition, std::string_view key,
                                       std::string_view value) {
  HUMMER_ASSERT(!is_finished_);
  if (partition >= buckets_.size()) {
    return Status(
        ErrorCode::invalid_argument,
        fmt::format("a record is for partition {}, and there are {}", partition, buckets_.size()));
  }
  const std::size_t stored = RecordArena::stored_bytes(key.size(), value.size());
  if (std::max(key.size(), value.size()) > options_.memory_bytes || !arena_.could_hold(stored)) {
    return Status(
        ErrorCode::limit_exceeded,
        fmt::format("a record has a key of {} and a value of {} bytes, and a collector with {} "
                    "bytes of memory has no room for it: give it more (memory_bytes)",
                    key.size(), value.size(), options_.memory_bytes));
  }
  Bucket& bucket = buckets_[partition];
  if (!arena_.extend(bucket, stored)) {
    HUMMER_TRY(spill());
    HUMMER_ASSERT(arena_.extend(bucket, stored));
  }
  HUMMER_ASSERT(arena_.add(bucket, options_.order.prefix(key), key, value));
  collected_bytes_ += key.size() + value.size();
  return Status();
}

std::span<const IndexEntry> OutputCollector::sort(const Bucket& bucket,
                                                  std::span<IndexEntry> room) {
  const Nanoseconds begin = platform_.now();
  const std::span<const IndexEntry> index = sort_bucket(options_.order, arena_, bucket, room);
  sort_nanoseconds_.fetch_add(nanoseconds_since(platform_, begin), std::memory_order_relaxed);
  return index;
}

Status OutputCollector::spill() {
  const Nanoseconds begin = platform_.now();
  const std::uint64_t sorted_before = sort_nanoseconds_.load(std::memory_order_relaxed);
  auto writer =
      SpillWriter::create(platform_, options_.spill_directory, options_.partitions, options_.codec);
  if (!writer.ok()) return writer.status();
  for (Bucket& bucket : buckets_) {
    if (bucket.records == 0) {
      HUMMER_TRY(writer->add(nullptr));
      continue;
    }
    SortedRecords records(arena_.data(), sort(bucket, arena_.index_room(bucket.records)));
    const auto combined = combine(records, options_);
    HUMMER_TRY(writer->add(combined != nullptr ? combined.get() : &records));
    metrics_.records += bucket.records;
  }
  auto file = writer->finish();
  if (!file.ok()) return file.status();
  std::fill(buckets_.begin(), buckets_.end(), Bucket{});
  arena_.clear();
  ++metrics_.spills;
  metrics_.spilled_records += writer->records();
  metrics_.spilled_bytes += file->size_bytes();
  metrics_.largest_record_bytes =
      std::max(metrics_.largest_record_bytes, file->largest_record_bytes());
  spills_.push_back(std::move(*file));
  metrics_.spill_nanoseconds += nanoseconds_since(platform_, begin) -
                                (sort_nanoseconds_.load(std::memory_order_relaxed) - sorted_before);
  // Each has descriptors of its own, so they do not become many more than a merge takes.
  if (spills_.size() >= 2 * merge_factor_) {
    if (streams_in(buffer_bytes_) < merge_factor_) arena_.give_back();
    const std::size_t count = streams_in(options_.memory_bytes);
    HUMMER_TRY(merge_spills(smallest_neighbours(spills_, count), count));
  }
  return Status();
}

std::size_t OutputCollector::streams_in(std::size_t memory_bytes) const {
  return batch::streams_in(memory_bytes, metrics_.largest_record_bytes, least_stream_buffer,
                           merge_factor_);
}

std::vector<std::unique_ptr<RecordStream>> OutputCollector::open_spills(std::uint32_t partition,
                                                                        std::size_t first,
                                                                        std::size_t count,
                                                                        std::size_t streams) const {
  const std::size_t buffer_bytes = std::clamp(buffer_bytes_ / std::max(streams, std::size_t{1}),
                                              least_stream_buffer, most_stream_buffer);
  std::vector<std::unique_ptr<RecordStream>> opened;
  for (std::size_t i = first; i < first + count; ++i) {
    if (auto stream = spills_[i].open(partition, buffer_bytes)) opened.push_back(std::move(stream));
  }
  return opened;
}

Status OutputCollector::merge_spills(std::size_t first, std::size_t count) {
  const Nanoseconds begin = platform_.now();
  auto writer =
      SpillWriter::create(platform_, options_.spill_directory, options_.partitions, options_.codec);
  if (!writer.ok()) return writer.status();
  for (std::uint32_t partition = 0; partition < options_.partitions; ++partition) {
    auto streams = open_spills(partition, first, count, count);
    if (streams.empty()) {
      HUMMER_TRY(writer->add(nullptr));
      continue;
    }
    const bool combines = streams.size() >= combined_at_streams;
    MergedRecords merged(options_, std::move(streams), combines);
    HUMMER_TRY(writer->add(&merged));
  }
  auto file = writer->finish();
  if (!file.ok()) return file.status();
  ++metrics_.merges;
  metrics_.spilled_bytes += file->size_bytes();
  metrics_.spilled_records += writer->records();
  const auto at = spills_.begin() + static_cast<std::ptrdiff_t>(first);
  *at = std::move(*file);
  spills_.erase(at + 1, at + static_cast<std::ptrdiff_t>(count));
  metrics_.merge_nanoseconds += nanoseconds_since(platform_, begin);
  return Status();
}

Status OutputCollector::merge_spills_to(std::size_t most, std::size_t memory_bytes) {
  while (spills_.size() > most) {
    const std::size_t count = std::min(spills_.size() - most + 1, streams_in(memory_bytes));
    HUMMER_TRY(merge_spills(smallest_neighbours(spills_, count), count));
  }
  return Status();
}

Status OutputCollector::finish() {
  HUMMER_ASSERT(!is_finished_);
  std::size_t memory_bytes = buffer_bytes_;
  const bool is_large = metrics_.largest_record_bytes > least_stream_buffer;
  if (is_large && !arena_.empty() &&
      spills_.size() >= streams_in(memory_bytes / options_.takes_at_once)) {
    HUMMER_TRY(spill());
  }
  if (arena_.empty()) {
    arena_.give_back();
    memory_bytes = options_.memory_bytes;
  }
  // One of the streams is what is in memory.
  const std::size_t in_memory = arena_.empty() ? 0 : 1;
  const std::size_t most = streams_in(memory_bytes / options_.takes_at_once) - in_memory;
  HUMMER_TRY(merge_spills_to(most, memory_bytes));
  is_finished_ = true;
  for (Bucket& bucket : buckets_) bucket.at = bucket.end;
  return Status();
}

Result<std::vector<std::unique_ptr<RecordStream>>> OutputCollector::take(std::uint32_t partition) {
  OutputCollector* const self = this;
  return take_of_all({&self, 1}, partition);
}

std::unique_ptr<RecordStream> OutputCollector::take_memory(
    std::span<OutputCollector* const> collectors, std::uint32_t partition) {
  OutputCollector& first = *collectors.front();
  const Nanoseconds begin = first.platform_.now();
  std::size_t records = 0;
  for (const OutputCollector* collector : collectors) {
    records += collector->buckets_[partition].records;
  }
  if (records == 0) return nullptr;
  auto index = std::make_unique_for_overwrite<IndexEntry[]>(records);
  auto scratch = std::make_unique_for_overwrite<IndexEntry[]>(records);
  IndexEntry* to = index.get();
  for (const OutputCollector* collector : collectors) {
    to = copy_index(collector->arena_, collector->buckets_[partition], to);
  }
  HUMMER_ASSERT(to == index.get() + records);
  sort_index(first.options_.order, first.arena_.data(), {index.get(), records},
             {scratch.get(), records});
  first.sort_nanoseconds_.fetch_add(nanoseconds_since(first.platform_, begin),
                                    std::memory_order_relaxed);
  return std::make_unique<SortedRecords>(first.arena_.data(), std::move(index), records);
}

Result<std::vector<std::unique_ptr<RecordStream>>> take_of_all(
    std::span<OutputCollector* const> collectors, std::uint32_t partition) {
  std::vector<std::unique_ptr<RecordStream>> streams;
  // What a collector has spilled came before what it has in memory.
  for (const OutputCollector* collector : collectors) {
    HUMMER_ASSERT(collector->is_finished_ && partition < collector->buckets_.size());
    const std::size_t spills = collector->spills_.size();
    auto opened = collector->open_spills(partition, 0, spills, spills);
    std::move(opened.begin(), opened.end(), std::back_inserter(streams));
  }
  while (!collectors.empty()) {
    const auto other = std::find_if(
        collectors.begin(), collectors.end(), [&collectors](const OutputCollector* collector) {
          return !collector->arena_.shares_places_with(collectors.front()->arena_);
        });
    const auto count = static_cast<std::size_t>(other - collectors.begin());
    if (auto in_memory = OutputCollector::take_memory(collectors.first(count), partition)) {
      streams.push_back(std::move(in_memory));
    }
    collectors = collectors.subspan(count);
  }
  return streams;
}

Result<SegmentPlace> OutputCollector::write_partition(std::uint32_t partition,
                                                      SegmentWriter& writer) {
  auto streams = open_spills(partition, 0, spills_.size(), spills_.size());
  const Bucket& bucket = buckets_[partition];
  if (bucket.records > 0) {
    streams.push_back(std::make_unique<SortedRecords>(
        arena_.data(), sort(bucket, arena_.index_room(bucket.records))));
  }
  // What was never spilled was not combined yet.
  const bool combines = streams.size() >= combined_at_streams || spills_.empty();
  MergedRecords merged(options_, std::move(streams), combines);
  auto appended = append_all(merged, writer);
  if (!appended.ok()) return appended.status();
  metrics_.written_records += appended->records;
  metrics_.largest_record_bytes = std::max(metrics_.largest_record_bytes, appended->largest_bytes);
  return writer.finish();
}

Status OutputCollector::write_output(const std::string& path, const std::string& index_path) {
  SegmentIndex index;
  index.places.reserve(options_.partitions);
  auto file = platform_.files().open_for_writing(path, WriteMode::truncate);
  if (!file.ok()) return file.status();
  SegmentWriter writer(**file, options_.codec);
  for (std::uint32_t partition = 0; partition < options_.partitions; ++partition) {
    auto place = write_partition(partition, writer);
    if (!place.ok()) return place.status();
    index.places.push_back(*place);
  }
  HUMMER_TRY((*file)->close());
  auto index_file = platform_.files().open_for_writing(index_path, WriteMode::truncate);
  if (!index_file.ok()) return index_file.status();
  HUMMER_TRY(write_segment_index(index, **index_file));
  return (*index_file)->close();
}

Status OutputCollector::finish_to_file(const std::string& path) {
  HUMMER_TRY(finish());
  const Nanoseconds begin = platform_.now();
  const std::string index_path = path + ".index";
  const Status status = write_output(path, index_path);
  if (!status.ok()) {
    // The failure that counts is the first one.
    static_cast<void>(platform_.files().remove(path).ok());
    static_cast<void>(platform_.files().remove(index_path).ok());
    return status;
  }
  spills_.clear();
  metrics_.merge_nanoseconds += nanoseconds_since(platform_, begin);
  return Status();
}

CollectorMetrics OutputCollector::metrics() const {
  CollectorMetrics metrics = metrics_;
  for (const Bucket& bucket : buckets_) metrics.records += bucket.records;
  metrics.bytes = collected_bytes_;
  metrics.sort_nanoseconds = sort_nanoseconds_.load(std::memory_order_relaxed);
  return metrics;
}

}  // namespace hummer::batch
