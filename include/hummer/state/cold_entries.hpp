// Accumulators as entries of a cold store (cold_store.hpp):
//
//   TableInHashOrder    a table's, in the store's order
//   AccumulatorScan     what a scan finds, as keys and accumulators again
//   combine_with        two accumulators of a key become one, as bytes
//
// Thread: one. Errors: bytes that cannot be decoded; and those of the scans.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/key_hash.hpp>
#include <hummer/state/accumulator_table.hpp>
#include <hummer/state/cold_store.hpp>

namespace hummer {

template <typename A>
[[nodiscard]] bool decode_accumulator(std::string_view bytes, A& value) {
  ByteReader in(bytes);
  return Codec<A>::decode(in, value) && in.left() == 0;
}

// merge(A& older, const A& newer).
template <typename A, typename Merge>
ColdCombine combine_with(Merge merge) {
  return [merge](std::string_view older, std::string_view newer, std::string& both) {
    A first{};
    A second{};
    if (!decode_accumulator(older, first) || !decode_accumulator(newer, second)) return false;
    merge(first, std::as_const(second));
    ByteWriter out(both);
    Codec<A>::encode(first, out);
    both.resize(out.size());
    return true;
  };
}

// A large table is gone over about sixteen times, each time for a range of hashes, so that sorting
// takes a fraction of the memory that the table has. The table stays as it is meanwhile.
template <typename K, typename A>
class TableInHashOrder final : public ColdScan {
 public:
  explicit TableInHashOrder(const AccumulatorTable<K, A>& table)
      : table_(table), at_once_(std::max<std::size_t>(table.size() / parts, least_at_once)) {
    if (table.size() <= at_once_) return;
    counts_.resize(ranges);
    table.scan(0, [&](const K& key, const A&) {
      ++counts_[range_of(key_hash(key))];
      return true;
    });
  }

  Result<bool> next() override { return advance(); }
  // The same: nothing can go wrong here.
  bool advance() {
    while (at_ == items_.size()) {
      if (range_ == ranges) return false;
      sort_some();
    }
    const Item& item = items_[at_++];
    entry_.hash = item.hash;
    entry_.key = key_of(item);
    entry_.value = std::string_view(bytes_).substr(item.offset + item.key_bytes, item.value_bytes);
    return true;
  }
  const ColdEntry& entry() const override { return entry_; }

 private:
  static constexpr int range_bits = 12;
  static constexpr std::size_t ranges = std::size_t{1} << range_bits;
  static constexpr std::size_t parts = 16;
  static constexpr std::size_t least_at_once = 4096;

  struct Item {
    std::uint64_t hash;
    std::size_t offset;
    std::uint32_t key_bytes;
    std::uint32_t value_bytes;
  };

  static std::size_t range_of(std::uint64_t hash) { return hash >> (64 - range_bits); }
  std::string_view key_of(const Item& item) const {
    return std::string_view(bytes_).substr(item.offset, item.key_bytes);
  }

  // The entries of the next ranges, as many as at_once_ allows but one range at least.
  void sort_some() {
    const std::size_t first = range_;
    range_ = ranges;
    std::size_t count = table_.size();
    if (!counts_.empty()) {
      count = counts_[first];
      range_ = first + 1;
      while (range_ < ranges && count + counts_[range_] <= at_once_) count += counts_[range_++];
    }
    at_ = 0;
    items_.clear();
    items_.reserve(count);
    if (count == 0) return;
    ByteWriter out(bytes_);
    table_.scan(0, [&](const K& key, const A& value) {
      const std::uint64_t hash = key_hash(key);
      if (range_of(hash) < first || range_of(hash) >= range_) return true;
      ByteWriter key_out(key_space_, true);
      Codec<K>::encode(key, key_out);
      const std::size_t offset = out.size();
      out.put(key_out.view().data(), key_out.size());
      Codec<A>::encode(value, out);
      items_.push_back({hash, offset, static_cast<std::uint32_t>(key_out.size()),
                        static_cast<std::uint32_t>(out.size() - offset - key_out.size())});
      return true;
    });
    std::sort(items_.begin(), items_.end(), [&](const Item& a, const Item& b) {
      return a.hash != b.hash ? a.hash < b.hash : key_of(a) < key_of(b);
    });
  }

  const AccumulatorTable<K, A>& table_;
  const std::size_t at_once_;
  std::vector<std::uint32_t> counts_;  // by range; of a small table none
  std::size_t range_ = 0;              // all before it have been read
  std::vector<Item> items_;            // those of the last ranges, in order
  std::size_t at_ = 0;
  std::string bytes_;
  std::string key_space_;
  ColdEntry entry_;
};

// Views in a key are valid until the next call.
template <typename K, typename A>
class AccumulatorScan {
 public:
  explicit AccumulatorScan(std::unique_ptr<ColdScan> scan) : scan_(std::move(scan)) {}
  // False: there is none left.
  Result<bool> next() {
    const Result<bool> found = scan_->next();
    if (!found.ok() || !*found) return found;
    ByteReader key_bytes(scan_->entry().key);
    key = K{};
    value = A{};
    if (!Codec<K>::decode(key_bytes, key) || !decode_accumulator(scan_->entry().value, value)) {
      return undecodable();
    }
    return true;
  }
  K key{};
  A value{};

  static Status undecodable() {
    return {ErrorCode::corrupt_record, "an accumulator that was on disk cannot be decoded"};
  }

 private:
  std::unique_ptr<ColdScan> scan_;
};

}  // namespace hummer
