#include <hummer/detail/state/record_log.hpp>

#include <algorithm>
#include <bit>

namespace hummer {
namespace {

using Place = RecordLog::Place;

// A log begins with little, since a sliding window may have thousands; whole chunks go round.
constexpr std::size_t least_chunk_bytes = 4 << 10;
constexpr std::size_t whole_chunk_bytes = 64 << 10;

constexpr std::size_t few_places = 24;
constexpr std::size_t places_per_bucket = 8;
constexpr std::size_t buckets_max = 2048;

bool before(const Place& a, const Place& b) {
  return a.hash != b.hash ? a.hash < b.hash : a.where < b.where;
}

void insert_sorted(Place* places, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    const Place place = places[i];
    std::size_t at = i;
    for (; at > 0 && before(place, places[at - 1]); --at) places[at] = places[at - 1];
    places[at] = place;
  }
}

}  // namespace

// Most significant bits first, relative to the least hash: a subtask's keys share their top bits.
void sort_places(Place* places, std::size_t count, Place* scratch) {
  if (count <= few_places) return insert_sorted(places, count);
  if (scratch == nullptr) {
    std::sort(places, places + count, before);
    return;
  }
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    least = std::min(least, places[i].hash);
    most = std::max(most, places[i].hash);
  }
  if (least == most) return;  // in order of arrival
  const std::size_t wanted =
      std::min(buckets_max, std::bit_floor(std::max<std::size_t>(count / places_per_bucket, 2)));
  const int range_bits = std::bit_width(most - least);
  const int shift = std::max(0, range_bits - static_cast<int>(std::bit_width(wanted - 1)));
  std::uint32_t ends[buckets_max];
  const std::size_t buckets = static_cast<std::size_t>((most - least) >> shift) + 1;
  std::fill_n(ends, buckets, 0);
  HUMMER_ASSERT(count <= UINT32_MAX);
  for (std::size_t i = 0; i < count; ++i) ++ends[(places[i].hash - least) >> shift];
  std::uint32_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::uint32_t in_bucket = ends[bucket];
    ends[bucket] = sum;
    sum += in_bucket;
  }
  for (std::size_t i = 0; i < count; ++i) {
    scratch[ends[(places[i].hash - least) >> shift]++] = places[i];
  }
  std::memcpy(static_cast<void*>(places), scratch, count * sizeof(Place));
  std::uint32_t begin = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::uint32_t end = ends[bucket];
    if (end - begin > 1) sort_places(places + begin, end - begin, scratch + begin);
    begin = end;
  }
}

// ---- memory ----

RecordMemory::RecordMemory() = default;
RecordMemory::~RecordMemory() { release_spare(); }

std::shared_ptr<RecordChunk> RecordMemory::take(std::size_t bytes_at_least, bool first) {
  if (first && bytes_at_least <= least_chunk_bytes) {
    return std::make_shared<RecordChunk>(*this, least_chunk_bytes);
  }
  if (bytes_at_least > whole_chunk_bytes) {
    return std::make_shared<RecordChunk>(*this, bytes_at_least);
  }
  if (spare_.empty()) return std::make_shared<RecordChunk>(*this, whole_chunk_bytes);
  std::shared_ptr<RecordChunk> chunk = std::move(spare_.back());
  spare_.pop_back();
  fewest_spare_ = std::min(fewest_spare_, spare_.size());
  return chunk;
}

void RecordMemory::give_back(std::shared_ptr<RecordChunk> chunk) {
  if (chunk.use_count() > 1) {  // a snapshot has yet to write it
    chunk->is_parting_ = true;
    parting_bytes_ += chunk->size();
    return;
  }
  if (chunk->size() != whole_chunk_bytes) return;
  chunk->used = 0;
  spare_.push_back(std::move(chunk));
}

void RecordMemory::trim() {
  spare_.erase(spare_.begin(), spare_.begin() + static_cast<std::ptrdiff_t>(fewest_spare_));
  fewest_spare_ = spare_.size();
}

void RecordMemory::release_spare() {
  spare_.clear();
  fewest_spare_ = 0;
}

RecordChunk::RecordChunk(RecordMemory& memory, std::size_t size_bytes)
    : memory_(memory),
      data_(std::make_unique_for_overwrite<char[]>(size_bytes)),
      size_bytes_(size_bytes) {
  memory_.bytes_ += size_bytes_;
}

RecordChunk::~RecordChunk() {
  memory_.bytes_ -= size_bytes_;
  if (is_parting_) memory_.parting_bytes_ -= size_bytes_;
}

// ---- log ----

void RecordLog::grow(std::size_t bytes) {
  chunks_.push_back(memory_->take(bytes, chunks_.empty()));
  RecordChunk& chunk = *chunks_.back();
  starts_.push_back(chunk.data());
  chunk_bytes_ += chunk.size();
  next_ = chunk.data();
  room_ = chunk.size();
}

void RecordLog::grow_places() {
  const std::size_t before = places_.capacity();
  places_.reserve(std::max<std::size_t>(64, before * 2));
  memory_->count(before * sizeof(Place), places_.capacity() * sizeof(Place));
}

const std::vector<Place>& RecordLog::sort(std::vector<Place>* scratch) {
  if (!is_sorted_) {
    if (scratch != nullptr && scratch->size() < places_.size()) scratch->resize(places_.size());
    sort_places(places_.data(), places_.size(), scratch == nullptr ? nullptr : scratch->data());
    is_sorted_ = true;
  }
  return places_;
}

void RecordLog::clear() {
  for (std::shared_ptr<RecordChunk>& chunk : chunks_) memory_->give_back(std::move(chunk));
  chunks_.clear();
  starts_.clear();
  memory_->count(places_.capacity() * sizeof(Place), 0);
  std::vector<Place>().swap(places_);
  next_ = nullptr;
  room_ = 0;
  chunk_bytes_ = 0;
  saved = 0;
  is_sorted_ = true;
}

}  // namespace hummer
