#include <hummer/detail/state/spilled_entries.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include "state/sort_by_hash.hpp"

namespace hummer {

TableInHashOrder::TableInHashOrder(const AccumulatorTableBase& table)
    : table_(table),
      keys_(table.keys()),
      at_once_(std::clamp(table.size() / parts, least_at_once, most_at_once)),
      ready_(table.size() <= at_once_) {
  if (!ready_) range_ends_.resize(ranges);
}

bool TableInHashOrder::find_ranges() {
  std::size_t left = entries_per_step;
  const auto some = [&](auto&& visit) {
    cursor_ = table_.visit_from(cursor_, [&](const FoundEntry& found) {
      visit(range_of(keys_.hash_of(found.key)), found.next);
      return --left > 0;
    });
    return cursor_ == AccumulatorTableBase::scan_end;
  };
  if (!counted_) {
    if (!some([&](std::size_t range, std::size_t) { ++range_ends_[range]; })) return false;
    counted_ = true;
    cursor_ = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t& each_end : range_ends_) begin += std::exchange(each_end, begin);
    places_.resize(table_.size());
    return false;
  }
  ready_ = some([&](std::size_t range, std::size_t next) {
    HUMMER_ASSERT(next <= UINT32_MAX);
    places_[range_ends_[range]++] = static_cast<std::uint32_t>(next);
  });
  return ready_;
}

bool TableInHashOrder::advance() {
  while (!ready_) find_ranges();
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
void TableInHashOrder::sort_some() {
  at_ = 0;
  items_.clear();
  ByteWriter out(bytes_);
  if (places_.empty()) {
    next_range_ = ranges;
    items_.reserve(table_.size());
    table_.visit_from(0, [&](const FoundEntry& found) {
      copy(found, out);
      return true;
    });
  } else {
    const std::size_t first = next_range_ == 0 ? 0 : range_ends_[next_range_ - 1];
    std::size_t end = range_ends_[next_range_++];
    while (next_range_ < ranges && range_ends_[next_range_] - first <= at_once_) {
      end = range_ends_[next_range_++];
    }
    items_.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) {
      if (i + expected_ahead < end) table_.expect_entry_before(places_[i + expected_ahead]);
      copy(table_.entry_before(places_[i]), out);
    }
  }
  std::vector<Item> space;
  stable_sort_by_hash(
      items_, space, [](const Item& item) { return item.hash; },
      [&](const Item& a, const Item& b) {
        return a.hash != b.hash ? a.hash < b.hash : key_of(a) < key_of(b);
      });
}

void TableInHashOrder::copy(const FoundEntry& found, ByteWriter& out) {
  const std::size_t offset = out.size();
  if (keys_.integer_bytes > 0) {
    keys_.write_integer(found.key, out);
  } else {
    ByteWriter key(key_space_, true);
    keys_.write(found.key, key);
    out.put(key.view().data(), key.size());
  }
  const std::size_t key_bytes = out.size() - offset;
  table_.encode(found.value, out);
  items_.push_back({keys_.hash_of(found.key), offset, static_cast<std::uint32_t>(key_bytes),
                    static_cast<std::uint32_t>(out.size() - offset - key_bytes)});
}

LeavingEntries::Held LeavingTable::find(std::uint64_t /*hash*/, std::string_view key,
                                        std::string& value) const {
  std::string space;
  std::string_view in_table;
  ByteReader bytes(key);
  HUMMER_ASSERT(table_->keys().read(bytes, space, in_table));
  const void* const found = table_->find(in_table);
  if (found == nullptr) return Held::no;
  ByteWriter out(value);
  table_->encode(found, out);
  value.resize(out.size());
  return Held::yes;
}

SpilledCombine combine_with(const ErasedAggregate& aggregate) {
  return [&aggregate](std::string_view older, std::string_view newer, std::string& both) {
    return aggregate.combine(older, newer, both);
  };
}

Status undecodable_accumulator() {
  return {ErrorCode::corrupt_record, "an accumulator that was on disk cannot be decoded"};
}

}  // namespace hummer
