// GroupedEntries: the entries of a snapshot, on their way from an operator's state, which has them
// in an order of its own, to blocks that are each of few key groups, so that who restores reads
// only blocks of its own (hummer/detail/key_groups.hpp).
//
//   entries.begin(&context);                        // in freeze
//   ...
//   entries.begin_step();                           // in each step
//   while (more && !entries.enough(out, until_bytes))
//     entries.add(hash, out, [&](ByteWriter& to) { to.put_value(key); ... });
//   all = !more && entries.flush(out, until_bytes);
//
// The subtask's groups are dealt into 32 ranges of about the same size. Each has a buffer, which
// becomes a block of the piece when it has 8 KiB (less where the operator's share of memory is
// small).
// Entries of one key stay in order. Sections: what comes in front of entries that belong together,
// such as a slice of time, and behind them; a block holds whole sections, so that each may be left
// out.
//
// Without a context there is one buffer, and blocks are of no certain groups.
//
// Thread: that of the operator. Cost: a copy of what is written, and until the snapshot is, buffers
// that have grown to about twice that, 400 KiB at most: with larger blocks they would put the
// operator's own state out of a core's cache.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/detail/key_groups.hpp>
#include <hummer/detail/key_hash.hpp>

namespace hummer {

class OperatorContext;

class GroupedEntries {
 public:
  GroupedEntries() = default;
  GroupedEntries(GroupedEntries&&) noexcept = default;
  GroupedEntries& operator=(GroupedEntries&&) noexcept = default;

  // What there was of an earlier snapshot is forgotten.
  void begin(OperatorContext* context);
  void begin_step() { step_bytes_ = 0; }
  // The step has written, or put into buffers, about so much.
  bool enough(const ByteWriter& out, std::size_t until_bytes) const {
    return out.size() >= until_bytes || step_bytes_ >= until_bytes;
  }

  // What is added from now on has `head` in front and `end` behind it. `counted`: head is followed
  // by the bytes of the entries, u32. REQUIRES: `end` and `counted` are those of all sections.
  void begin_section(std::string_view head, std::string_view end, bool counted = false);

  // encode(ByteWriter&) writes an entry of a key with this hash.
  template <typename Encode>
  void add(std::uint64_t hash, ByteWriter& out, Encode&& encode) {
    Range& range = range_of(hash);
    if (range.section != section_) [[unlikely]]
      open_section(range);
    const std::size_t before = range.out.size();
    encode(range.out);
    step_bytes_ += range.out.size() - before;
    if (range.out.size() >= block_bytes_) [[unlikely]]
      write(range, out);
  }
  // The same for one of so many bytes, few: where they go, valid until the next is added.
  char* add_fixed(std::uint64_t hash, std::size_t bytes, ByteWriter& out) {
    Range& range = range_of(hash);
    if (range.out.size() >= block_bytes_) [[unlikely]]
      write(range, out);
    if (range.section != section_) [[unlikely]]
      open_section(range);
    step_bytes_ += bytes;
    return range.out.claim(bytes);
  }
  // Behind the last entry: writes what is in the buffers, until `out` holds about so many bytes;
  // true: that was all.
  bool flush(ByteWriter& out, std::size_t until_bytes);

  std::size_t memory_bytes() const;

 private:
  struct Range {
    std::string bytes;  // grows up to a block
    ByteWriter out{bytes};
    std::uint64_t section = 0;  // 0: none is open
    std::size_t counted_at = 0;
    KeyGroups groups = KeyGroups::none();  // that are dealt to it
  };

  Range& range_of(std::uint64_t hash) {
    const std::uint32_t group = key_group(hash, groups_);
    const std::uint32_t place = group - first_group_;
    if (place < range_numbers_.size()) [[likely]]
      return ranges_[range_numbers_[place]];
    // The subtask does not own the key: an operator in front of a hash exchange has them all.
    ranges_.front().groups.add({group, group});
    return ranges_.front();
  }
  void open_section(Range& range);
  void close_section(Range& range);
  void write(Range& range, ByteWriter& out);
  void append(Range& range, ByteWriter& out);
  void note(std::size_t begin, std::size_t end, const KeyGroups& groups);

  OperatorContext* context_ = nullptr;
  std::uint32_t groups_ = default_key_groups;
  std::uint32_t first_group_ = 0;
  std::size_t block_bytes_ = 0;
  std::size_t step_bytes_ = 0;
  std::vector<std::uint8_t> range_numbers_;  // of the subtask's groups
  std::vector<Range> ranges_;
  std::size_t next_flushed_ = 0;

  std::uint64_t section_ = 0;  // its number; 0: there are none
  std::uint64_t sections_ = 0;
  std::string head_;
  std::string end_;
  bool counted_ = false;
};

}  // namespace hummer
