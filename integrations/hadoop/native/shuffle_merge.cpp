#include "shuffle_merge.hpp"

#include <algorithm>
#include <utility>

#include "batch/merger.hpp"

namespace hummer::hadoop {
namespace {

constexpr std::size_t memory_per_output = 4;  // one takes no larger part of it
constexpr std::uint64_t slack_bytes = 1024;
constexpr std::size_t least_stream_buffer = std::size_t{4} << 10;
constexpr std::size_t most_stream_buffer = std::size_t{1} << 20;

}  // namespace

ShuffleMerge::ShuffleMerge(Platform& platform, ShuffleMergeOptions options)
    : platform_(platform), options_(std::move(options)) {}

Result<ShuffleMerge::Id> ShuffleMerge::reserve(std::uint64_t raw_bytes) {
  const std::lock_guard lock(mutex_);
  HUMMER_TRY(Status(failure_));
  std::uint64_t bytes = raw_bytes;
  if (bytes > options_.memory_bytes / memory_per_output) {
    bytes = 0;
  } else if (reserved_bytes_ + bytes > options_.memory_bytes) {
    HUMMER_TRY(keep(spill_memory()));
    if (reserved_bytes_ + bytes > options_.memory_bytes) return Id{0};
  }
  reserved_bytes_ += bytes;
  coming_[++last_id_].reserved_bytes = bytes;
  return last_id_;
}

ShuffleMerge::Coming& ShuffleMerge::coming(Id id) {
  const std::lock_guard lock(mutex_);
  return coming_.at(id);
}

Status ShuffleMerge::begin(Id id, batch::SegmentPlace place) {
  Coming& one = coming(id);
  // Compression makes some outputs a little larger; for more there is no room in memory.
  const std::uint64_t most = one.reserved_bytes + one.reserved_bytes / 8 + slack_bytes;
  const bool fits = one.reserved_bytes > 0 && place.stored_bytes <= most;
  auto made = fits ? FetchedOutput::in_memory(place)
                   : FetchedOutput::in_file(platform_, options_.spill_directory, place);
  if (!made.ok()) return made.status();
  one.output = std::move(*made);
  return Status();
}

Status ShuffleMerge::receive(Id id, std::string_view bytes) {
  return coming(id).output->receive(bytes);
}

Status ShuffleMerge::check(Id id) { return coming(id).output->complete(); }

Status ShuffleMerge::keep(Status status) {
  if (failure_.ok()) failure_ = status;
  return status;
}

Status ShuffleMerge::commit(Id id) {
  const std::lock_guard lock(mutex_);
  HUMMER_TRY(Status(failure_));
  const auto found = coming_.find(id);
  Coming one = std::move(found->second);
  coming_.erase(found);
  return keep(add(std::move(one)));
}

Status ShuffleMerge::add(Coming one) {
  ++metrics_.outputs;
  if (one.output->is_in_memory()) {
    in_memory_.push_back(std::move(one.output));
    in_memory_bytes_ += one.reserved_bytes;
    return in_memory_bytes_ > options_.memory_bytes / 3 * 2 ? spill_memory() : Status();
  }
  reserved_bytes_ -= one.reserved_bytes;
  files_.push_back({std::move(one.output), nullptr});
  return files_.size() >= 2 * options_.merge_factor ? merge_files(options_.merge_factor) : Status();
}

void ShuffleMerge::abort(Id id) {
  const std::lock_guard lock(mutex_);
  const auto found = coming_.find(id);
  if (found == coming_.end()) return;
  reserved_bytes_ -= found->second.reserved_bytes;
  coming_.erase(found);
}

Status ShuffleMerge::spill_memory() {
  if (in_memory_.empty()) return Status();
  std::vector<std::unique_ptr<batch::RecordStream>> streams;
  for (const auto& output : in_memory_) {
    streams.push_back(output->open(options_.codec, buffer_bytes(in_memory_.size())));
  }
  HUMMER_TRY(write_spill(std::move(streams)));
  in_memory_.clear();
  reserved_bytes_ -= std::exchange(in_memory_bytes_, 0);
  if (files_.size() < 2 * options_.merge_factor) return Status();
  return merge_files(options_.merge_factor);
}

Status ShuffleMerge::write_spill(std::vector<std::unique_ptr<batch::RecordStream>> streams) {
  auto writer = batch::SpillWriter::create(platform_, options_.spill_directory, 1, options_.codec);
  if (!writer.ok()) return writer.status();
  batch::Merger merger(options_.order, std::move(streams));
  HUMMER_TRY(writer->add(&merger));
  auto file = writer->finish();
  if (!file.ok()) return file.status();
  ++metrics_.spills;
  metrics_.spilled_records += writer->records();
  files_.push_back({nullptr, std::make_unique<batch::SpillFile>(std::move(*file))});
  return Status();
}

std::size_t ShuffleMerge::buffer_bytes(std::size_t streams) const {
  return std::clamp(options_.memory_bytes / 4 / streams, least_stream_buffer, most_stream_buffer);
}

std::unique_ptr<batch::RecordStream> ShuffleMerge::open_file(std::size_t at,
                                                             std::size_t streams) const {
  const File& file = files_[at];
  return file.output != nullptr ? file.output->open(options_.codec, buffer_bytes(streams))
                                : file.spill->open(0, buffer_bytes(streams));
}

Status ShuffleMerge::merge_files(std::size_t count) {
  std::vector<std::unique_ptr<batch::RecordStream>> streams;
  for (std::size_t i = 0; i < count; ++i) streams.push_back(open_file(i, count));
  HUMMER_TRY(write_spill(std::move(streams)));
  // It takes their place: equal keys stay in the order of the files.
  files_[count - 1] = std::move(files_.back());
  files_.pop_back();
  files_.erase(files_.begin(), files_.begin() + static_cast<std::ptrdiff_t>(count - 1));
  return Status();
}

Status ShuffleMerge::finish() {
  const std::lock_guard lock(mutex_);
  HUMMER_TRY(Status(failure_));
  return keep(open_merged());
}

Status ShuffleMerge::open_merged() {
  while (files_.size() > options_.merge_factor) {
    HUMMER_TRY(
        merge_files(std::min(files_.size() - options_.merge_factor + 1, options_.merge_factor)));
  }
  const std::size_t all = files_.size() + in_memory_.size();
  std::vector<std::unique_ptr<batch::RecordStream>> streams;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const File& file = files_[i];
    metrics_.all_bytes +=
        file.output != nullptr ? file.output->stored_bytes() : file.spill->size_bytes();
    streams.push_back(open_file(i, all));
  }
  for (const auto& output : in_memory_) {
    metrics_.all_bytes += output->stored_bytes();
    streams.push_back(output->open(options_.codec, buffer_bytes(all)));
  }
  merged_ = std::make_unique<batch::Merger>(options_.order, std::move(streams));
  return Status();
}

}  // namespace hummer::hadoop
