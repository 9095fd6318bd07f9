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

}  // namespace hummer
