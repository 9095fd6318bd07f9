// ColdAccumulators<K, A>: what an AccumulatorTable holds beyond its share of memory, on disk.
//
//   deltas(merge)   The table is what was folded since the last put(). Keys are never looked up:
//                   what the disk has of a key and what the table has are merged when all is read,
//                   and when runs are merged. The hot path of an aggregate stays as it is.
//   values()        A key is either in the table, which counts, or on disk. Before a batch is
//                   folded its keys are fetched.
//
// put() writes the whole table as one run, in order of its keys' hashes. It goes over the table
// about sixteen times, each time for a range of hashes, so that sorting takes a fraction of the
// memory that the table has.
//
// Lifecycle: open() with the operator's context, before restore. Thread: that of the operator.
// Errors: those of the disk, with the operator's name.
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

template <typename K, typename A>
class ColdAccumulators {
 public:
  using Table = AccumulatorTable<K, A>;

  // Exactly one of the two, once or more. merge(A& older, const A& newer).
  template <typename Merge>
  void open_deltas(OperatorContext& context, Merge merge) {
    context_ = &context;
    deltas_ = true;
    options_.combine = [merge](std::string_view older, std::string_view newer, std::string& both) {
      A first{};
      A second{};
      if (!decode(older, first) || !decode(newer, second)) return false;
      merge(first, std::as_const(second));
      ByteWriter out(both);
      Codec<A>::encode(first, out);
      both.resize(out.size());
      return true;
    };
  }
  void open_values(OperatorContext& context) { context_ = &context; }

  bool empty() const { return store_ == nullptr || store_->empty(); }
  // Whether there has ever been anything.
  bool used() const { return store_ != nullptr; }
  std::size_t memory_bytes() const { return store_ == nullptr ? 0 : store_->memory_bytes(); }
  void clear() {
    if (store_ != nullptr) store_->clear();
  }

  // Everything in the table, which may be cleared then.
  Status put(const Table& table) {
    if (table.empty()) return {};
    if (store_ == nullptr) store_ = make_cold_store(*context_, options_);
    std::vector<std::uint32_t> counts(std::size_t{1} << range_bits);
    table.scan(0, [&](const K& key, const A&) {
      ++counts[range_of(key_hash(key))];
      return true;
    });
    HUMMER_TRY(store_->begin_run(table.size()));
    const std::size_t at_once = std::max<std::size_t>(table.size() / parts, least_at_once);
    for (std::size_t first = 0; first < counts.size();) {
      std::size_t total = counts[first];
      std::size_t end = first + 1;
      while (end < counts.size() && total + counts[end] <= at_once) total += counts[end++];
      if (total > 0) HUMMER_TRY(put_ranges(table, first, end, total));
      first = end;
    }
    return store_->finish_run();
  }

  // values: the keys key_of(0…count) come into the table where only the disk has them.
  template <typename KeyOf>
  Status fetch(Table& table, std::size_t count, KeyOf&& key_of) {
    for (std::size_t i = 0; i < count; ++i) {
      const K& key = key_of(i);
      if (table.find(key) != nullptr) continue;
      ByteWriter bytes(key_space_, true);
      Codec<K>::encode(key, bytes);
      const Result<bool> found = store_->find(key_hash(key), bytes.view(), value_space_);
      if (!found.ok()) return found.status();
      if (!*found) continue;
      A value{};
      if (!decode(value_space_, value)) return undecodable();
      table.update(
          1, [&](std::size_t) -> const K& { return key; },
          [&](A& accumulator, bool, std::size_t) { accumulator = std::move(value); });
    }
    return {};
  }

  // Reads everything in order of hash and key; views in a key are valid until the next call.
  class Scan {
   public:
    explicit Scan(std::unique_ptr<ColdScan> scan) : scan_(std::move(scan)) {}
    // False: there is none left.
    Result<bool> next() {
      const Result<bool> found = scan_->next();
      if (!found.ok() || !*found) return found;
      ByteReader key_bytes(scan_->entry().key);
      key = K{};
      value = A{};
      if (!Codec<K>::decode(key_bytes, key) || !decode(scan_->entry().value, value)) {
        return undecodable();
      }
      return true;
    }
    K key{};
    A value{};

   private:
    std::unique_ptr<ColdScan> scan_;
  };
  Scan scan() { return Scan(store_->scan()); }

  // The same as bytes of keys and accumulators, which their codecs read.
  std::unique_ptr<ColdScan> scan_bytes() { return store_->scan(); }

 private:
  static constexpr int range_bits = 12;
  static constexpr std::size_t parts = 16;
  static constexpr std::size_t least_at_once = 4096;

  struct Item {
    std::uint64_t hash;
    std::size_t offset;
    std::uint32_t key_bytes;
    std::uint32_t value_bytes;
  };

  static std::size_t range_of(std::uint64_t hash) { return hash >> (64 - range_bits); }
  static bool decode(std::string_view bytes, A& value) {
    ByteReader in(bytes);
    return Codec<A>::decode(in, value) && in.left() == 0;
  }
  static Status undecodable() {
    return {ErrorCode::corrupt_record, "an accumulator that was on disk cannot be decoded"};
  }

  Status put_ranges(const Table& table, std::size_t first, std::size_t end, std::size_t count) {
    std::vector<Item> items;
    items.reserve(count);
    std::string bytes;
    ByteWriter out(bytes);
    std::string key_space;
    table.scan(0, [&](const K& key, const A& value) {
      const std::uint64_t hash = key_hash(key);
      if (range_of(hash) < first || range_of(hash) >= end) return true;
      ByteWriter key_out(key_space, true);
      Codec<K>::encode(key, key_out);
      const std::size_t offset = out.size();
      out.put(key_out.view().data(), key_out.size());
      Codec<A>::encode(value, out);
      items.push_back({hash, offset, static_cast<std::uint32_t>(key_out.size()),
                       static_cast<std::uint32_t>(out.size() - offset - key_out.size())});
      return true;
    });
    const auto key_of = [&](const Item& item) {
      return out.view().substr(item.offset, item.key_bytes);
    };
    std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
      return a.hash != b.hash ? a.hash < b.hash : key_of(a) < key_of(b);
    });
    for (const Item& item : items) {
      HUMMER_TRY(store_->add(
          {.hash = item.hash,
           .key = key_of(item),
           .value = out.view().substr(item.offset + item.key_bytes, item.value_bytes)}));
    }
    return {};
  }

  OperatorContext* context_ = nullptr;
  bool deltas_ = false;
  ColdStoreOptions options_;
  std::unique_ptr<ColdStore> store_;  // null: nothing has ever been on disk
  std::string key_space_;
  std::string value_space_;
};

}  // namespace hummer
