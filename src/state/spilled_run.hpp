// SpilledRun: one sorted run of a cold store, in a file without a name, which small runs share.
//
// It is blocks of about 1 KiB, or 4 KiB where nothing is looked up, each: entries
// (run_entries.hpp), then a check (XXH3-64 of what is before it).
//
// An entry larger than a block has one of its own. The run keeps each block's first hash in memory,
// and a filter: one word of 64 bits per eight keys, four bits per key (blocked Bloom filter,
// Putze et al. 2007). It is made for as many keys as may come, and folded when fewer have.
//
// Lifecycle: RunFile::open, SpilledRunWriter::create, add*, finish → SpilledRun, which is immutable
// and shared with the scans that read it; its space is free again with the last of them. Thread: a
// run any, its writer one at a time.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "platform/platform.hpp"
#include "state/run_ends.hpp"

namespace hummer {

// That runs lie in, one behind the other; it is off the disk with the last of them.
struct RunFile {
  // One with so much in it is full: small runs share one.
  static constexpr std::uint64_t full_bytes = 1 << 20;

  std::shared_ptr<WritableFile> writable;
  std::shared_ptr<ReadableFile> readable;

  static Result<RunFile> open(Platform& platform, const std::string& directory);
};

class SpilledRun {
 public:
  struct Block {
    std::uint64_t first_hash;
    std::uint64_t offset;
  };

  std::uint64_t entries() const { return entries_; }
  std::uint64_t disk_bytes() const { return end_offset_ - begin_offset_; }
  std::size_t memory_bytes() const {
    return blocks_.capacity() * sizeof(Block) + filter_.capacity() * sizeof(std::uint64_t);
  }
  int level() const { return level_; }
  // Whether hashes are those of the keys' bytes.
  bool keys_are_hashed() const { return keys_are_hashed_; }
  // From when on there is nothing in it but what is over or removed.
  bool is_over(std::int64_t now) const { return ends_.all_over(now); }
  // So much of it is over, at least; so much says of keys that they are removed.
  std::uint64_t over_bytes(std::int64_t now) const { return ends_.over_bytes(now); }
  std::uint64_t removed_bytes() const { return removed_bytes_; }
  std::size_t block_count() const { return blocks_.size(); }

  // Has near what says whether a key with this hash may be here, and where.
  void expect(std::uint64_t hash) const;
  // False: it has no entry with this hash.
  bool may_have(std::uint64_t hash) const;
  // The entry of a key, into `space`, which the views point into; false: it has none here.
  Result<bool> find(std::uint64_t hash, std::string_view key, std::string& space,
                    SpilledEntry& entry) const;
  // Blocks from `first` on, at least one, as many as fit into `read_bytes`; verified.
  // `entries` gets where each one's begin and end within `space`.
  Status read_blocks(std::size_t first, std::size_t read_bytes, std::string& space,
                     std::vector<std::pair<std::size_t, std::size_t>>& entries) const;
  // Blocks as they are on disk, up to `end`; whoever takes entries out of one checks it first.
  Status read_unchecked(std::size_t first, std::size_t end, std::string& space) const;
  Status check_block(std::size_t block, std::string_view bytes) const;
  // A block's part of what was read from `first` on.
  std::string_view part_of(std::string_view space, std::size_t first, std::size_t block) const {
    return space.substr(
        static_cast<std::size_t>(offset_of_block(block) - offset_of_block(first)),
        static_cast<std::size_t>(offset_of_block(block + 1) - offset_of_block(block)));
  }
  // The entry of a key among those of a block from `from` on, which is then behind it; false: it is
  // none of them.
  bool find_in_block(std::string_view bytes, std::size_t& from, std::uint64_t hash,
                     std::string_view key, SpilledEntry& entry) const;
  // Where a block begins within its file; also of one behind the last.
  std::uint64_t offset_of_block(std::size_t block) const {
    return block < blocks_.size() ? blocks_[block].offset : end_offset_;
  }
  // REQUIRES: there are entries.
  std::uint64_t first_hash() const { return blocks_.front().first_hash; }
  std::uint64_t last_hash() const { return last_hash_; }
  std::uint64_t hash_of_block(std::size_t block) const { return blocks_[block].first_hash; }
  // One before which there is nothing with this hash or a larger one.
  std::size_t block_before(std::uint64_t hash) const;
  // One before which there is nothing at or behind this place in the order.
  Result<std::size_t> block_before(std::uint64_t hash, std::string_view key) const;

 private:
  friend class SpilledRunWriter;
  // About where a hash is. REQUIRES: there are blocks.
  std::size_t guess(std::uint64_t hash) const;
  // The first block that begins with this hash or a larger one.
  std::size_t first_from(std::uint64_t hash) const;
  Status read(std::size_t first, std::size_t end, std::string& space) const;
  Status corrupt(std::size_t block) const;

  std::shared_ptr<ReadableFile> file_;
  std::vector<Block> blocks_;
  double part_per_hash_ = 0;           // of the blocks
  std::vector<std::uint64_t> filter_;  // empty: none
  std::uint64_t entries_ = 0;
  RunEnds ends_;
  std::uint64_t removed_bytes_ = 0;
  std::uint64_t begin_offset_ = 0;  // within the file
  std::uint64_t end_offset_ = 0;
  std::uint64_t last_hash_ = 0;
  int level_ = 0;
  bool keys_are_hashed_ = false;
};

class SpilledRunWriter {
 public:
  // `filter_for`: so many entries; 0: it gets none. It goes to the end of `file`, which has one
  // writer at a time.
  static SpilledRunWriter create(RunFile file, const SpilledStoreOptions& options, int level,
                                 std::uint64_t filter_for);
  Status add(const SpilledEntry& entry);
  // `closes_file`: nothing comes behind it.
  Result<std::shared_ptr<const SpilledRun>> finish(bool closes_file);
  std::uint64_t file_bytes() const { return file_->size_bytes(); }
  // Of the run so far.
  std::size_t memory_bytes() const { return run_->memory_bytes(); }

 private:
  SpilledRunWriter() = default;
  Status end_block();
  Status write();
  // Its bits are set a little later, when their word has come near.
  void note_in_filter(std::uint64_t hash);
  void set_in_filter(std::uint64_t hash);

  static constexpr std::size_t noted_ahead = 16;

  std::shared_ptr<WritableFile> file_;
  std::shared_ptr<SpilledRun> run_;
  std::function<std::int64_t(std::string_view)> end_of_;
  std::unique_ptr<std::string> space_ = std::make_unique<std::string>();
  std::unique_ptr<ByteWriter> out_ =
      std::make_unique<ByteWriter>(*space_);  // not written yet: whole blocks and the one begun
  std::size_t block_begin_ = 0;               // within them
  std::size_t full_bytes_ = 0;                // of a block
  std::array<std::uint64_t, noted_ahead> noted_;
  std::uint64_t noted_count_ = 0;
};

}  // namespace hummer
