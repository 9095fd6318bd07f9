// SpilledSlices<K, A>: what the tables of a window's slices (slice_tables.hpp) hold beyond their
// share of memory, on disk.
//
// One store for all slices: a run holds whole tables, slice behind slice, each in order of its
// keys' hashes. (To the store the slice is the hash, and the key's hash the front of the key.) So
// one slice is read without the others, a slice that is done with needs no work, and the number of
// open files does not grow with that of slices. A slice may be put there again and again: all that
// it has there and its table are merged when it is read.
//
// Lifecycle: open() with the operator's context, once or more, before anything else. Thread: that
// of the operator. Errors: those of the disk, with the operator's name.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/state/spilled_entries.hpp>

namespace hummer {

template <typename K, typename A>
class SpilledSlices {
 public:
  using Table = AccumulatorTable<K, A>;

  // merge(A& older, const A& newer).
  template <typename Merge>
  void open(OperatorContext& context, Merge merge) {
    context_ = &context;
    options_.combine = combine_with<A>(std::move(merge));
  }
  const SpilledCombine& combine() const { return options_.combine; }

  bool empty() const { return slices_.empty(); }
  // Those that have something here, with how many entries were put here for each.
  const std::map<Timestamp, std::uint64_t>& slices() const { return slices_; }
  std::size_t memory_bytes() const { return store_ == nullptr ? 0 : store_->memory_bytes(); }

  // All that the tables hold, as one run; in order of their slices.
  Status put(std::span<const std::pair<Timestamp, const Table*>> tables) {
    std::size_t entries = 0;
    for (const auto& each : tables) entries += each.second->size();
    if (entries == 0) return {};
    make_store();
    HUMMER_TRY(store_->begin_run(entries));
    for (const auto& [slice, table] : tables) {
      if (table->empty()) continue;
      slices_[slice] += table->size();
      TableInHashOrder<K, A> scan(*table);
      while (scan.advance()) {
        set_key(scan.entry().hash, scan.entry().key);
        SpilledEntry entry;
        entry.hash = place_of(slice);
        entry.key = key_;
        entry.value = scan.entry().value;
        HUMMER_TRY(store_->add(entry));
      }
    }
    return store_->finish_run();
  }

  // What the slice, one of slices(), has here, in order of hash and key. Reads so much at a time.
  std::unique_ptr<SpilledScan> scan(Timestamp slice, std::size_t read_bytes_at_once) {
    return std::make_unique<SliceScan>(store_->scan_hash(place_of(slice), read_bytes_at_once));
  }

  // What the slice, one of slices(), has of a key here; false: nothing. Reads some blocks per run.
  Result<bool> find(Timestamp slice, const K& key, A& value) {
    ByteWriter bytes(key_space_, true);
    Codec<K>::encode(key, bytes);
    set_key(key_hash(key), bytes.view());
    const Result<std::unique_ptr<SpilledScan>> scan = store_->scan_from(place_of(slice), key_);
    if (!scan.ok()) return scan.status();
    const Result<bool> found = (*scan)->next();
    if (!found.ok() || !*found) return found;
    const SpilledEntry& entry = (*scan)->entry();
    if (entry.hash != place_of(slice) || entry.key != key_) return false;
    if (!decode_accumulator(entry.value, value)) return AccumulatorScan<K, A>::undecodable();
    return true;
  }

  // Slices that begin before that are done with; none of them comes again.
  void drop_before(Timestamp slice) {
    if (store_ == nullptr) return;
    slices_.erase(slices_.begin(), slices_.lower_bound(slice));
    store_->drop_before(place_of(slice));
  }
  // Takes all that the other one has.
  void absorb(SpilledSlices& other) {
    if (other.store_ == nullptr) return;
    make_store();
    store_->absorb(*other.store_);
    for (const auto& [slice, entries] : other.slices_) slices_[slice] += entries;
    other.slices_.clear();
  }

 private:
  // Takes the hash of the key off its front.
  class SliceScan final : public SpilledScan {
   public:
    explicit SliceScan(std::unique_ptr<SpilledScan> scan) : scan_(std::move(scan)) {}
    Result<bool> next() override {
      Result<bool> found = scan_->next();
      if (!found.ok() || !*found) return found;
      entry_ = scan_->entry();
      std::uint64_t in_order = 0;
      if (entry_.key.size() < sizeof in_order) return AccumulatorScan<K, A>::undecodable();
      std::memcpy(&in_order, entry_.key.data(), sizeof in_order);
      entry_.hash = __builtin_bswap64(in_order);
      entry_.key.remove_prefix(sizeof in_order);
      return true;
    }
    const SpilledEntry& entry() const override { return entry_; }

   private:
    std::unique_ptr<SpilledScan> scan_;
    SpilledEntry entry_;
  };

  // Times in order as numbers without a sign.
  static std::uint64_t place_of(Timestamp slice) {
    return static_cast<std::uint64_t>(slice) ^ std::uint64_t{1} << 63;
  }
  void set_key(std::uint64_t hash, std::string_view key) {
    const std::uint64_t in_order = __builtin_bswap64(hash);
    key_.assign(reinterpret_cast<const char*>(&in_order), sizeof in_order);
    key_ += key;
  }
  void make_store() {
    if (store_ == nullptr) store_ = make_spilled_store(*context_, options_);
  }

  OperatorContext* context_ = nullptr;
  SpilledStoreOptions options_;
  std::unique_ptr<SpilledStore> store_;  // null: nothing has ever been on disk
  std::map<Timestamp, std::uint64_t> slices_;
  std::string key_;
  std::string key_space_;
};

}  // namespace hummer
