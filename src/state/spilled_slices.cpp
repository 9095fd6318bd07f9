#include <hummer/detail/state/spilled_slices.hpp>

#include <cstring>

namespace hummer {
namespace {

// Times in order as numbers without a sign.
std::uint64_t place_of_slice(Timestamp slice) {
  return static_cast<std::uint64_t>(slice) ^ std::uint64_t{1} << 63;
}

// Takes the hash of the key off its front.
class SliceScan final : public SpilledScan {
 public:
  explicit SliceScan(std::unique_ptr<SpilledScan> scan) : scan_(std::move(scan)) {}
  Result<bool> next() override {
    Result<bool> found = scan_->next();
    if (!found.ok() || !*found) return found;
    entry_ = scan_->entry();
    std::uint64_t in_order = 0;
    if (entry_.key.size() < sizeof in_order) return undecodable_accumulator();
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

}  // namespace

Status SpilledSlices::put(
    std::span<const std::pair<Timestamp, const AccumulatorTableBase*>> tables) {
  std::size_t entries = 0;
  for (const auto& each : tables) entries += each.second->size();
  if (entries == 0) return {};
  make_store();
  HUMMER_TRY(store_->begin_run(entries));
  for (const auto& [slice, table] : tables) {
    if (table->empty()) continue;
    slices_[slice] += table->size();
    TableInHashOrder scan(*table);
    while (scan.advance()) {
      set_key(scan.entry().hash, scan.entry().key);
      SpilledEntry entry;
      entry.hash = place_of_slice(slice);
      entry.key = key_;
      entry.value = scan.entry().value;
      HUMMER_TRY(store_->add(entry));
    }
  }
  return store_->finish_run();
}

std::unique_ptr<SpilledScan> SpilledSlices::scan(Timestamp slice, std::size_t read_bytes_at_once) {
  return std::make_unique<SliceScan>(store_->scan_hash(place_of_slice(slice), read_bytes_at_once));
}

Result<bool> SpilledSlices::merge_into(void* accumulator, bool is_new, Timestamp slice,
                                       std::string_view key, const KeyCodec& keys) {
  ByteWriter bytes(key_space_, true);
  keys.write(key, bytes);
  set_key(keys.hash_of(key), bytes.view());
  const Result<std::unique_ptr<SpilledScan>> scan = store_->scan_from(place_of_slice(slice), key_);
  if (!scan.ok()) return scan.status();
  const Result<bool> found = (*scan)->next();
  if (!found.ok() || !*found) return found;
  const SpilledEntry& entry = (*scan)->entry();
  if (entry.hash != place_of_slice(slice) || entry.key != key_) return false;
  ByteReader value(entry.value);
  if (!aggregate_->read(value, accumulator, is_new, false) || value.left() != 0) {
    return undecodable_accumulator();
  }
  return true;
}

void SpilledSlices::drop_before(Timestamp slice) {
  if (store_ == nullptr) return;
  slices_.erase(slices_.begin(), slices_.lower_bound(slice));
  store_->drop_before(place_of_slice(slice));
}

void SpilledSlices::absorb(SpilledSlices& other) {
  if (other.store_ == nullptr) return;
  make_store();
  store_->absorb(*other.store_);
  for (const auto& [slice, entries] : other.slices_) slices_[slice] += entries;
  other.slices_.clear();
}

void SpilledSlices::set_key(std::uint64_t hash, std::string_view key) {
  const std::uint64_t in_order = __builtin_bswap64(hash);
  key_.assign(reinterpret_cast<const char*>(&in_order), sizeof in_order);
  key_ += key;
}

void SpilledSlices::make_store() {
  if (store_ == nullptr) store_ = make_spilled_store(*context_, options_);
}

}  // namespace hummer
