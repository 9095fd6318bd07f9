// Accumulators as entries of a cold store (spilled_store.hpp):
//
//   SortedEntries       in the store's order, whatever they are entries of
//   TableInHashOrder    those of a table
//   AccumulatorScan     what a scan finds, as keys and accumulators again
//   combine_with        two accumulators of a key become one, as bytes
//
// Thread: one. Errors: bytes that cannot be decoded; and those of the scans.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/state/erased_aggregate.hpp>
#include <hummer/detail/state/spilled_store.hpp>

namespace hummer {

// `aggregate` outlives it.
SpilledCombine combine_with(const ErasedAggregate& aggregate);

// Entries of something larger, sorted by hash and key: it is gone over about sixteen times, each
// time for a range of hashes, so that sorting takes a fraction of the memory that it has.
class SortedEntries : public SpilledScan {
 public:
  Result<bool> next() override { return advance(); }
  // The same: nothing can go wrong here.
  bool advance();
  const SpilledEntry& entry() const override { return entry_; }

 protected:
  // Of `entries` in all. Where they are many(), count() comes for each before the first next().
  explicit SortedEntries(std::size_t entries);
  bool many() const { return !counts_.empty(); }
  void count(std::uint64_t hash) { ++counts_[range_of(hash)]; }

  // Goes over all entries and for those with wanted(hash) writes key and value, without a gap,
  // through `out`, and says so by add().
  virtual void read(ByteWriter& out) = 0;
  bool wanted(std::uint64_t hash) const {
    return range_of(hash) >= first_range_ && range_of(hash) < next_range_;
  }
  void add(std::uint64_t hash, std::size_t offset, std::size_t key_bytes, std::size_t value_bytes) {
    items_.push_back({hash, offset, static_cast<std::uint32_t>(key_bytes),
                      static_cast<std::uint32_t>(value_bytes)});
  }

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
  void sort_some();

  const std::size_t entries_;
  const std::size_t at_once_;
  std::vector<std::uint32_t> counts_;  // by range; of few entries none
  std::size_t first_range_ = 0;        // those of the ranges from here…
  std::size_t next_range_ = 0;         // …to before here are in hand
  std::vector<Item> items_;            // in order
  std::size_t at_ = 0;
  std::string bytes_;
  SpilledEntry entry_;
};

// The table stays as it is meanwhile.
class TableInHashOrder final : public SortedEntries {
 public:
  explicit TableInHashOrder(const AccumulatorTableBase& table);

 private:
  void read(ByteWriter& out) override;

  const AccumulatorTableBase& table_;
  std::string key_space_;
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
