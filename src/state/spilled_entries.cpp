#include <hummer/detail/state/spilled_entries.hpp>

#include <algorithm>

namespace hummer {

SortedEntries::SortedEntries(std::size_t entries)
    : entries_(entries), at_once_(std::max<std::size_t>(entries / parts, least_at_once)) {
  if (entries > at_once_) counts_.resize(ranges);
}

bool SortedEntries::advance() {
  while (at_ == items_.size()) {
    if (next_range_ == ranges) return false;
    sort_some();
  }
  const Item& item = items_[at_++];
  entry_.hash = item.hash;
  entry_.key = key_of(item);
  entry_.value = std::string_view(bytes_).substr(item.offset + item.key_bytes, item.value_bytes);
  return true;
}

// The entries of the next ranges, as many as at_once_ allows but one range at least.
void SortedEntries::sort_some() {
  first_range_ = next_range_;
  next_range_ = ranges;
  std::size_t count = entries_;
  if (many()) {
    count = counts_[first_range_];
    next_range_ = first_range_ + 1;
    while (next_range_ < ranges && count + counts_[next_range_] <= at_once_) {
      count += counts_[next_range_++];
    }
  }
  at_ = 0;
  items_.clear();
  items_.reserve(count);
  if (count == 0) return;
  ByteWriter out(bytes_);
  read(out);
  std::sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
    return a.hash != b.hash ? a.hash < b.hash : key_of(a) < key_of(b);
  });
}

SpilledCombine combine_with(const ErasedAggregate& aggregate) {
  return [&aggregate](std::string_view older, std::string_view newer, std::string& both) {
    return aggregate.combine(older, newer, both);
  };
}

Status undecodable_accumulator() {
  return {ErrorCode::corrupt_record, "an accumulator that was on disk cannot be decoded"};
}

TableInHashOrder::TableInHashOrder(const AccumulatorTableBase& table)
    : SortedEntries(table.size()), table_(table) {
  if (!many()) return;
  table.visit_from(0, [&](const FoundEntry& found) {
    count(table.keys().hash_of(found.key));
    return true;
  });
}

void TableInHashOrder::read(ByteWriter& out) {
  table_.visit_from(0, [&](const FoundEntry& found) {
    const std::uint64_t hash = table_.keys().hash_of(found.key);
    if (!wanted(hash)) return true;
    ByteWriter key_out(key_space_, true);
    table_.keys().write(found.key, key_out);
    const std::size_t offset = out.size();
    out.put(key_out.view().data(), key_out.size());
    table_.encode(found.value, out);
    add(hash, offset, key_out.size(), out.size() - offset - key_out.size());
    return true;
  });
}

}  // namespace hummer
