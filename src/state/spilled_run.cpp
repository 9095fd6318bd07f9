#include "state/spilled_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <hummer/detail/key_hash.hpp>

#include "platform/nameless_file.hpp"
#include "state/run_entries.hpp"

namespace hummer {
namespace {

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t block_bytes_for_find = 1024;  // of which one is copied for each entry found
constexpr std::size_t write_bytes = 256 << 10;
constexpr std::size_t check_bytes = sizeof(std::uint64_t);
constexpr std::size_t most_bytes = UINT32_MAX;  // of a key or value
constexpr std::size_t keys_per_word = 8;
// A large filter has a number of words that up to eight divides, and so can be folded by them.
constexpr std::size_t most_folds = 8;
constexpr std::size_t words_granule = 840;

// Which bits of its word a key has, and which word. Key groups are the hash's top bits, which
// are much the same for all keys of a subtask: not those.
std::uint64_t filter_bits(std::uint64_t hash) {
  const std::uint64_t mixed = hash * 0x9E3779B97F4A7C15u;
  return std::uint64_t{1} << (mixed >> 58) | std::uint64_t{1} << (mixed >> 52 & 63) |
         std::uint64_t{1} << (mixed >> 46 & 63) | std::uint64_t{1} << (mixed >> 40 & 63);
}
std::size_t filter_word(std::uint64_t hash, std::size_t words) {
  return static_cast<std::size_t>(((hash & 0xFFFFFFFFu) * words) >> 32);
}
std::size_t filter_words(std::uint64_t entries_max) {
  const auto words = static_cast<std::size_t>(entries_max / keys_per_word + 1);
  return words < words_granule ? words
                               : (words + words_granule - 1) / words_granule * words_granule;
}
// Of fewer keys than it was made for: neighbours become one word, which is the place that
// filter_word then gives.
void fold_filter(std::vector<std::uint64_t>& filter, std::uint64_t entries) {
  const std::uint64_t room = filter.size() * keys_per_word;
  std::size_t folds = static_cast<std::size_t>(
      std::min<std::uint64_t>(room / std::max<std::uint64_t>(entries, 1), most_folds));
  while (folds > 1 && filter.size() % folds != 0) --folds;
  if (folds < 2) return;
  std::vector<std::uint64_t> folded(filter.size() / folds);
  for (std::size_t i = 0; i < filter.size(); ++i) folded[i / folds] |= filter[i];
  filter = std::move(folded);
}

}  // namespace

bool SpilledRun::may_have(std::uint64_t hash) const {
  if (filter_.empty()) return true;
  const std::uint64_t bits = filter_bits(hash);
  return (filter_[filter_word(hash, filter_.size())] & bits) == bits;
}

void SpilledRun::expect(std::uint64_t hash) const {
  if (!filter_.empty()) __builtin_prefetch(&filter_[filter_word(hash, filter_.size())]);
  if (!blocks_.empty()) __builtin_prefetch(&blocks_[guess(hash)]);
}

Status SpilledRun::read_unchecked(std::size_t first, std::size_t end, std::string& space) const {
  const std::uint64_t offset = offset_of_block(first);
  const auto length = static_cast<std::size_t>(offset_of_block(end) - offset);
  space.resize(length);
  const Result<std::size_t> got = file_->read_at(offset, std::span<char>(space));
  if (!got.ok()) return got.status();
  return *got < length ? corrupt(first) : Status();
}

Status SpilledRun::check_block(std::size_t block, std::string_view bytes) const {
  const std::size_t checked = bytes.size() - check_bytes;
  std::uint64_t check = 0;
  std::memcpy(&check, bytes.data() + checked, check_bytes);
  return check == hash_bytes(bytes.data(), checked) ? Status() : corrupt(block);
}

Status SpilledRun::corrupt(std::size_t block) const {
  return {ErrorCode::corrupt_file,
          fmt::format("'{}' does not hold what was written to it at byte {}", file_->path(),
                      offset_of_block(block))};
}

Status SpilledRun::read(std::size_t first, std::size_t end, std::string& space) const {
  HUMMER_TRY(read_unchecked(first, end, space));
  for (std::size_t block = first; block < end; ++block) {
    HUMMER_TRY(check_block(block, part_of(space, first, block)));
  }
  return {};
}

Status SpilledRun::read_blocks(std::size_t first, std::size_t read_bytes, std::string& space,
                               std::vector<std::pair<std::size_t, std::size_t>>& entries) const {
  const std::uint64_t offset = offset_of_block(first);
  std::size_t end = first + 1;
  while (end < blocks_.size() && offset_of_block(end + 1) - offset <= read_bytes) ++end;
  HUMMER_TRY(read(first, end, space));
  entries.clear();
  for (std::size_t block = first; block < end; ++block) {
    entries.emplace_back(
        static_cast<std::size_t>(offset_of_block(block) - offset),
        static_cast<std::size_t>(offset_of_block(block + 1) - offset) - check_bytes);
  }
  return {};
}

// Hashes are about evenly spread where keys are looked up.
std::size_t SpilledRun::guess(std::uint64_t hash) const {
  if (hash <= blocks_.front().first_hash) return 0;
  const auto behind_first = static_cast<double>(hash - blocks_.front().first_hash);
  return static_cast<std::size_t>(std::min(behind_first * part_per_hash_, 1.0) *
                                  static_cast<double>(blocks_.size() - 1));
}

// From where the block would be, it is near. Steps double.
std::size_t SpilledRun::first_from(std::uint64_t hash) const {
  if (blocks_.empty() || blocks_.front().first_hash >= hash) return 0;
  std::size_t low = guess(hash);
  std::size_t high = low;
  for (std::size_t step = 1; low > 0 && blocks_[low].first_hash >= hash; step *= 2) {
    low -= std::min(low, step);
  }
  for (std::size_t step = 1; high < blocks_.size() && blocks_[high].first_hash < hash; step *= 2) {
    high = std::min(blocks_.size(), high + step);
  }
  const auto place = [&](std::size_t block) {
    return blocks_.begin() + static_cast<std::ptrdiff_t>(block);
  };
  return static_cast<std::size_t>(std::lower_bound(place(low), place(high), hash,
                                                   [](const Block& block, std::uint64_t wanted) {
                                                     return block.first_hash < wanted;
                                                   }) -
                                  blocks_.begin());
}

std::size_t SpilledRun::block_before(std::uint64_t hash) const {
  const std::size_t first = first_from(hash);
  return first == 0 ? 0 : first - 1;
}

Result<std::size_t> SpilledRun::block_before(std::uint64_t hash, std::string_view key) const {
  // Many blocks may begin with this hash: of those the last whose first key is not behind `key`.
  std::size_t first = first_from(hash);
  std::size_t end = hash == UINT64_MAX ? blocks_.size() : first_from(hash + 1);
  std::string space;
  while (first < end) {
    const std::size_t middle = first + (end - first) / 2;
    HUMMER_TRY(read(middle, middle + 1, space));
    SpilledEntry entry;
    (void)read_run_entry(space.data(), keys_are_hashed_, entry);
    if (entry.key <= key) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first == 0 ? 0 : first - 1;
}

bool SpilledRun::find_in_block(std::string_view bytes, std::size_t& from, std::uint64_t hash,
                               std::string_view key, SpilledEntry& entry) const {
  const char* at = bytes.data() + from;
  for (const char* const end = bytes.data() + bytes.size() - check_bytes; at < end;) {
    at = read_run_entry(at, keys_are_hashed_, entry);
    if (same_bytes(entry.key, key) && (keys_are_hashed_ || entry.hash == hash)) {
      from = static_cast<std::size_t>(at - bytes.data());
      return true;
    }
    if (!keys_are_hashed_ && entry.hash > hash) return false;
  }
  return false;
}

Result<bool> SpilledRun::find(std::uint64_t hash, std::string_view key, std::string& space,
                              SpilledEntry& entry) const {
  if (!may_have(hash)) return false;
  // Entries with this hash may begin in the block before the first one that begins with it.
  for (std::size_t block = block_before(hash);
       block < blocks_.size() && blocks_[block].first_hash <= hash; ++block) {
    HUMMER_TRY(read(block, block + 1, space));
    std::size_t from = 0;
    if (find_in_block(space, from, hash, key, entry)) return true;
  }
  return false;
}

Result<RunFile> RunFile::open(Platform& platform, const std::string& directory) {
  Result<NamelessFile> file = open_nameless(platform, directory);
  if (!file.ok()) return file.status();
  return RunFile{.writable = std::move(file->writable), .readable = std::move(file->readable)};
}

SpilledRunWriter SpilledRunWriter::create(RunFile file, const SpilledStoreOptions& options,
                                          int level, std::uint64_t filter_for) {
  SpilledRunWriter writer;
  writer.file_ = std::move(file.writable);
  writer.run_ = std::make_shared<SpilledRun>();
  SpilledRun& run = *writer.run_;
  run.file_ = std::move(file.readable);
  run.level_ = level;
  run.begin_offset_ = writer.file_->size_bytes();
  run.keys_are_hashed_ = options.keys_are_hashed;
  if (filter_for > 0) run.filter_.resize(filter_words(filter_for));
  writer.full_bytes_ = options.combine ? block_bytes : block_bytes_for_find;
  writer.end_of_ = options.end_of;
  return writer;
}

Status SpilledRunWriter::add(const SpilledEntry& entry) {
  if (entry.key.size() >= most_bytes || entry.value.size() >= most_bytes) {
    return {ErrorCode::limit_exceeded, "a key's state has 4 GiB or more"};
  }
  SpilledRun& run = *run_;
  if (out_->size() == block_begin_) {
    run.blocks_.push_back({entry.hash, file_->size_bytes() + block_begin_});
  }
  const std::size_t begin = out_->size();
  write_run_entry(entry, run.keys_are_hashed_, *out_);
  if (entry.removed) {
    run.removed_bytes_ += out_->size() - begin;
  } else {
    run.ends_.add(end_of_ ? end_of_(entry.value) : RunEnds::never, out_->size() - begin);
  }
  ++run.entries_;
  run.last_hash_ = entry.hash;
  if (!run.filter_.empty()) note_in_filter(entry.hash);
  return out_->size() - block_begin_ >= full_bytes_ ? end_block() : Status();
}

void SpilledRunWriter::note_in_filter(std::uint64_t hash) {
  std::uint64_t& place = noted_[noted_count_ % noted_ahead];
  if (noted_count_++ >= noted_ahead) set_in_filter(place);
  place = hash;
  __builtin_prefetch(&run_->filter_[filter_word(hash, run_->filter_.size())], 1);
}

void SpilledRunWriter::set_in_filter(std::uint64_t hash) {
  run_->filter_[filter_word(hash, run_->filter_.size())] |= filter_bits(hash);
}

Status SpilledRunWriter::end_block() {
  out_->put_value(hash_bytes(out_->view().data() + block_begin_, out_->size() - block_begin_));
  block_begin_ = out_->size();
  return block_begin_ < write_bytes ? Status() : write();
}

Status SpilledRunWriter::write() {
  HUMMER_TRY(file_->append(out_->view()));
  out_->rewind(0);
  block_begin_ = 0;
  return {};
}

Result<std::shared_ptr<const SpilledRun>> SpilledRunWriter::finish(bool closes_file) {
  if (out_->size() > block_begin_) HUMMER_TRY(end_block());
  if (out_->size() > 0) HUMMER_TRY(write());
  run_->end_offset_ = file_->size_bytes();
  std::vector<SpilledRun::Block>& blocks = run_->blocks_;
  blocks.shrink_to_fit();
  if (!blocks.empty()) {
    const std::uint64_t span = blocks.back().first_hash - blocks.front().first_hash;
    run_->part_per_hash_ = 1 / static_cast<double>(std::max<std::uint64_t>(span, 1));
  }
  for (std::size_t i = 0; i < std::min<std::uint64_t>(noted_count_, noted_ahead); ++i) {
    set_in_filter(noted_[i]);
  }
  fold_filter(run_->filter_, run_->entries_);
  if (closes_file) HUMMER_TRY(file_->close());
  return std::shared_ptr<const SpilledRun>(std::move(run_));
}

}  // namespace hummer
