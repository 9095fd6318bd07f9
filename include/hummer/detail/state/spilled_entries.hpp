// Accumulators as entries of a cold store (spilled_store.hpp):
//
//   TableInHashOrder    those of a table, in the store's order
//   LeavingTable        those of a table that leaves memory
//   AccumulatorScan     what a scan finds, as keys and accumulators again
//   combine_with        two accumulators of a key become one, as bytes
//
// Thread: one. Errors: bytes that cannot be decoded; and those of the scans.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/state/erased_aggregate.hpp>
#include <hummer/detail/state/spilled_store.hpp>

namespace hummer {

// `aggregate` outlives it.
SpilledCombine combine_with(const ErasedAggregate& aggregate);

// The entries of a table in order of hash and key. The table, which stays as it is meanwhile, is
// gone over twice, in steps: then it is known where the entries of each range of hashes are, in
// four bytes per entry, and one range after the other is copied and sorted.
class TableInHashOrder final : public SpilledScan {
 public:
  explicit TableInHashOrder(const AccumulatorTableBase& table);

  Result<bool> prepare() override { return ready_ || find_ranges(); }
  Result<bool> next() override { return advance(); }
  // The same: nothing can go wrong here.
  bool advance();
  bool at_end() const { return at_ == items_.size() && next_range_ == ranges; }
  const SpilledEntry& entry() const override { return entry_; }

 private:
  static constexpr int range_bits = 12;
  static constexpr std::size_t ranges = std::size_t{1} << range_bits;
  static constexpr std::size_t parts = 32;
  static constexpr std::size_t least_at_once = 4096;
  static constexpr std::size_t most_at_once = 16384;
  static constexpr std::size_t entries_per_step = 32 << 10;
  static constexpr std::size_t expected_ahead = 16;

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
  // A step of it. True: that was all.
  bool find_ranges();
  void sort_some();
  void copy(const FoundEntry& found, ByteWriter& out);

  const AccumulatorTableBase& table_;
  const KeyCodec& keys_;
  const std::size_t at_once_;
  // Where entries are in the table (HashTable::entry_before), by range; of few entries nothing.
  bool ready_ = false;
  bool counted_ = false;    // the first time is over
  std::size_t cursor_ = 0;  // in the table
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> range_ends_;  // in places_
  std::size_t next_range_ = 0;             // those before it are in hand or were
  std::vector<Item> items_;                // in order
  std::size_t at_ = 0;
  std::string bytes_;
  std::string key_space_;
  SpilledEntry entry_;
};

// Nobody changes the table any more. Its snapshot may be under way all the same.
class LeavingTable final : public LeavingEntries {
 public:
  // `of_entries`: bytes that its accumulators hold beside themselves.
  LeavingTable(std::shared_ptr<const AccumulatorTableBase> table, std::size_t of_entries)
      : table_(std::move(table)), of_entries_(of_entries) {}

  std::uint64_t size() const override { return table_->size(); }
  std::size_t memory_bytes() const override { return table_->memory_bytes() + of_entries_; }
  Held find(std::uint64_t hash, std::string_view key, std::string& value) const override;
  std::unique_ptr<SpilledScan> in_order() const override {
    return std::make_unique<TableInHashOrder>(*table_);
  }

 private:
  const std::shared_ptr<const AccumulatorTableBase> table_;
  const std::size_t of_entries_;
};

// When bytes that were on disk make no sense.
Status undecodable_accumulator();

// Views in a key are valid until the next call.
template <typename K, typename A>
class AccumulatorScan {
 public:
  // `scan` outlives it.
  explicit AccumulatorScan(SpilledScan& scan) : scan_(scan) {}
  // False: there is none left.
  Result<bool> next() {
    const Result<bool> found = scan_.next();
    if (!found.ok() || !*found) return found;
    ByteReader key_bytes(scan_.entry().key);
    key = K{};
    value = A{};
    if (!Codec<K>::decode(key_bytes, key) || !decode_accumulator(scan_.entry().value, value)) {
      return undecodable_accumulator();
    }
    return true;
  }
  K key{};
  A value{};

 private:
  SpilledScan& scan_;
};

}  // namespace hummer
