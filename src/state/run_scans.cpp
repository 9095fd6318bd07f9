#include "state/run_scans.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "state/sort_by_hash.hpp"

namespace hummer {
namespace {

// Hashes that are so near to each other say little of where an entry belongs, its key says more:
// such as those of slices, which are in the order of time.
constexpr int most_bits_of_near_hashes = 16;
// The first bytes of a key as a number in the order of keys: of two whose numbers differ the
// smaller comes first.
std::uint64_t first_bytes_of(std::string_view key) {
  std::uint64_t first_bytes = 0;
  std::memcpy(&first_bytes, key.data(), std::min(key.size(), sizeof first_bytes));
  return __builtin_bswap64(first_bytes);
}

// Of these, which are in order, so many come up to `last`.
std::size_t count_up_to(std::span<const EntryCursor::Place> places, const SpilledEntry& last) {
  const auto behind = std::partition_point(
      places.begin(), places.end(),
      [&](const EntryCursor::Place& place) { return !before(last, EntryCursor::entry_at(place)); });
  return static_cast<std::size_t>(behind - places.begin());
}

}  // namespace

RunCursor::RunCursor(Run run, std::size_t first_block, std::size_t read_bytes_at_once)
    : run_(std::move(run)), block_(first_block), read_bytes_(read_bytes_at_once) {}

RunCursor::RunCursor(Run run, std::size_t first_block, std::size_t read_bytes_at_once,
                     std::uint64_t hash, std::string_view key)
    : run_(std::move(run)),
      block_(first_block),
      read_bytes_(read_bytes_at_once),
      begins_behind_(true),
      first_hash_(hash),
      first_key_(key) {}

Status RunCursor::load() {
  places_.clear();
  do {
    if (block_ < run_->block_count()) HUMMER_TRY(read_places());
    at_end_ = block_ == run_->block_count();
    if (begins_behind_) drop_places_before();
  } while (places_.empty() && !at_end_);
  begins_behind_ = false;
  return {};
}

Status RunCursor::read_places() {
  HUMMER_TRY(run_->read_blocks(block_, read_bytes_, space_, parts_));
  block_ += parts_.size();
  const bool keys_are_hashed = run_->keys_are_hashed();
  SpilledEntry entry;
  for (const auto& [begin, end] : parts_) {
    const char* at = space_.data() + begin;
    while (at < space_.data() + end) {
      const char* const from = keys_are_hashed ? at : at + sizeof entry.hash;
      at = read_run_entry(at, keys_are_hashed, entry);
      take_hash(keys_are_hashed, entry);
      places_.push_back({entry.hash, from});
    }
    HUMMER_ASSERT(at == space_.data() + end);
  }
  return {};
}

void RunCursor::drop_places_before() {
  const SpilledEntry first{.hash = first_hash_, .key = first_key_};
  const auto kept = std::partition_point(places_.begin(), places_.end(), [&](const Place& place) {
    return before(entry_at(place), first);
  });
  places_.erase(places_.begin(), kept);
}

MergingScan::MergingScan(std::vector<std::unique_ptr<EntryCursor>> cursors,
                         const SpilledStoreOptions& options, std::int64_t as_of, std::string name,
                         bool keep_removed)
    : options_(options), as_of_(as_of), name_(std::move(name)), keep_removed_(keep_removed) {
  for (auto& cursor : cursors) sources_.push_back({.cursor = std::move(cursor)});
}

Result<bool> MergingScan::prepare() {
  if (next_ < taken_.size()) return true;
  for (Source& source : sources_) {
    if (!source.used_up() || source.cursor->at_end()) continue;
    Result<bool> prepared = source.cursor->prepare();
    if (!prepared.ok() || !*prepared) return prepared;
  }
  return true;
}

Result<bool> MergingScan::next() {
  for (;;) {
    Result<bool> found = step();
    if (!found.ok()) return named(found.status());
    if (!*found) return false;
    // Where values are combined nothing hides below one that is dead.
    if (entry_.removed && (!keep_removed_ || options_.combine)) continue;
    return true;
  }
}

Result<bool> MergingScan::step() {
  if (next_ == taken_.size()) {
    HUMMER_TRY(take());
    if (taken_.empty()) return false;
  }
  const std::size_t first = next_++;
  entry_ = entry_of(taken_[first]);
  while (next_ < taken_.size() && taken_[next_].order == taken_[first].order &&
         same_bytes(entry_of(taken_[next_]).key, entry_.key)) {
    ++next_;
  }
  if (next_ - first > 1) HUMMER_TRY(put_together(first, next_));
  if (!entry_.removed && options_.end_of &&
      RunEnds::is_over(options_.end_of(entry_.value), as_of_)) {
    entry_.removed = true;
    entry_.value = {};
  }
  return true;
}

Status MergingScan::put_together(std::size_t first, std::size_t end) {
  if (!options_.combine) {
    entry_ = entry_of(taken_[end - 1]);
    return {};
  }
  together_ = entry_.value;
  for (std::size_t i = first + 1; i < end; ++i) {
    both_.clear();
    if (!options_.combine(together_, entry_of(taken_[i]).value, both_)) {
      return {ErrorCode::corrupt_record, "two values of a key cannot be put together"};
    }
    together_.swap(both_);
  }
  entry_.value = together_;
  return {};
}

Status MergingScan::take() {
  taken_.clear();
  next_ = 0;
  for (Source& source : sources_) {
    if (!source.used_up()) continue;
    HUMMER_TRY(source.cursor->load());
    source.next = 0;
  }
  const std::optional<SpilledEntry> last = last_at_hand();
  std::uint64_t first_hash = UINT64_MAX;
  std::uint64_t last_hash = 0;
  for (Source& source : sources_) {
    const std::span<const EntryCursor::Place> left = source.cursor->places().subspan(source.next);
    const std::size_t count = last ? count_up_to(left, *last) : left.size();
    if (count == 0) continue;
    first_hash = std::min(first_hash, left.front().hash);
    last_hash = std::max(last_hash, left[count - 1].hash);
    for (const EntryCursor::Place& place : left.first(count)) {
      taken_.push_back({.order = place.hash, .place = place});
    }
    source.next += count;
  }
  if (sources_.size() > 1) order_taken(first_hash, last_hash);
  return {};
}

std::optional<SpilledEntry> MergingScan::last_at_hand() const {
  std::optional<SpilledEntry> last;
  for (const Source& source : sources_) {
    if (source.cursor->at_end()) continue;
    const SpilledEntry entry = EntryCursor::entry_at(source.cursor->places().back());
    if (!last || before(entry, *last)) last = entry;
  }
  return last;
}

void MergingScan::order_taken(std::uint64_t first_hash, std::uint64_t last_hash) {
  const int bits = taken_.empty() ? 0 : static_cast<int>(std::bit_width(last_hash - first_hash));
  if (bits <= most_bits_of_near_hashes) {
    for (Taken& taken : taken_) {
      const std::uint64_t first_bytes = first_bytes_of(entry_of(taken).key);
      taken.order =
          bits == 0 ? first_bytes : (taken.order - first_hash) << (64 - bits) | first_bytes >> bits;
    }
  }
  // Equal keys stay in the order of the sources.
  stable_sort_by_hash(
      taken_, space_, [](const Taken& taken) { return taken.order; },
      [](const Taken& a, const Taken& b) {
        if (a.order != b.order) return a.order < b.order;
        const std::string_view key_a = entry_of(a).key;
        const std::string_view key_b = entry_of(b).key;
        return !same_bytes(key_a, key_b) && key_a < key_b;
      });
}

}  // namespace hummer
