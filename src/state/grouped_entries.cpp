#include <hummer/detail/state/grouped_entries.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <hummer/detail/connector_context.hpp>
#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::size_t most_ranges = 32;
constexpr std::size_t most_block_bytes = 8 * 1024;
constexpr std::size_t least_block_bytes = 2 * 1024;  // its head and place in the index cost 60
constexpr std::size_t part_of_share = 16;            // of memory, for all buffers
constexpr std::size_t small_block_bytes = 2 * 1024;  // several ranges become one block

}  // namespace

void GroupedEntries::begin(OperatorContext* context) {
  context_ = context;
  range_numbers_.clear();
  next_flushed_ = 0;
  section_ = sections_ = 0;
  block_bytes_ = most_block_bytes;
  first_group_ = 0;
  std::size_t ranges = 1;
  if (context != nullptr) {
    groups_ = static_cast<std::uint32_t>(context->key_groups());
    const auto own =
        KeyGroups::of_subtask(static_cast<std::uint32_t>(context->subtask()),
                              static_cast<std::uint32_t>(context->parallelism()), groups_);
    const std::size_t count = own.empty() ? 0 : own.last - own.first + std::size_t{1};
    first_group_ = own.first;
    ranges = std::clamp<std::size_t>(count, 1, most_ranges);
    for (std::size_t i = 0; i < count; ++i) {
      range_numbers_.push_back(static_cast<std::uint8_t>(i * ranges / count));
    }
    block_bytes_ = std::min(most_block_bytes, context->snapshot_step_bytes() / 2);
    if (const MemoryAccount* const memory = context->memory(); memory != nullptr) {
      const std::size_t part = memory->share_bytes() / part_of_share / ranges;
      block_bytes_ = std::min(block_bytes_, std::max(part, least_block_bytes));
    }
  }
  ranges_ = std::vector<Range>(ranges);
  for (std::uint32_t i = 0; i < range_numbers_.size(); ++i) {
    ranges_[range_numbers_[i]].groups.add({first_group_ + i, first_group_ + i});
  }
}

void GroupedEntries::begin_section(std::string_view head, std::string_view end, bool counted) {
  head_ = head;
  end_ = end;
  counted_ = counted;
  section_ = ++sections_;
}

void GroupedEntries::open_section(Range& range) {
  close_section(range);
  range.section = section_;
  range.out.put(head_.data(), head_.size());
  if (!counted_) return;
  range.counted_at = range.out.size();
  range.out.put_value(std::uint32_t{0});
}

void GroupedEntries::close_section(Range& range) {
  if (std::exchange(range.section, 0) == 0) return;
  if (counted_) {
    const auto bytes =
        static_cast<std::uint32_t>(range.out.size() - range.counted_at - sizeof(std::uint32_t));
    std::memcpy(range.bytes.data() + range.counted_at, &bytes, sizeof bytes);
  }
  range.out.put(end_.data(), end_.size());
}

void GroupedEntries::append(Range& range, ByteWriter& out) {
  close_section(range);
  out.put(range.out.view().data(), range.out.size());
  range.out.rewind(0);
}

void GroupedEntries::write(Range& range, ByteWriter& out) {
  const std::size_t begin = out.size();
  append(range, out);
  note(begin, out.size(), range.groups);
}

void GroupedEntries::note(std::size_t begin, std::size_t end, const KeyGroups& groups) {
  if (context_ == nullptr || begin == end) return;
  connector_context(*context_).note_block({begin, end, groups});
}

// Small ones become one block with their neighbours.
bool GroupedEntries::flush(ByteWriter& out, std::size_t until_bytes) {
  while (next_flushed_ < ranges_.size()) {
    if (out.size() >= until_bytes) return false;
    const std::size_t begin = out.size();
    KeyGroups groups = KeyGroups::none();
    do {
      Range& range = ranges_[next_flushed_++];
      if (range.out.size() > 0) groups.add(range.groups);
      append(range, out);
    } while (next_flushed_ < ranges_.size() && out.size() - begin < small_block_bytes);
    note(begin, out.size(), groups);
  }
  ranges_.clear();
  return true;
}

std::size_t GroupedEntries::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Range& range : ranges_) bytes += range.bytes.capacity();
  return bytes;
}

}  // namespace hummer
