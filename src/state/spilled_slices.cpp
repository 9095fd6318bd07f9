#include <hummer/detail/state/spilled_slices.hpp>

#include <algorithm>
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

// To the store the slice is the hash, and the key's hash the front of the key.
void set_key(std::uint64_t hash, std::string_view key, std::string& of_store) {
  const std::uint64_t in_order = __builtin_bswap64(hash);
  of_store.assign(reinterpret_cast<const char*>(&in_order), sizeof in_order);
  of_store += key;
}

// Tables, one behind the other.
class TablesInOrder final : public SpilledScan {
 public:
  explicit TablesInOrder(const SpilledSlices::Tables& tables) : tables_(tables) {}

  Result<bool> prepare() override {
    if (scan_ != nullptr && scan_->at_end()) {
      scan_.reset();
      ++table_;
    }
    return (scan_ == nullptr && !open()) || *scan_->prepare();
  }
  Result<bool> next() override {
    for (;;) {
      if (scan_ == nullptr && !open()) return false;
      if (scan_->advance()) break;
      scan_.reset();
      ++table_;
    }
    set_key(scan_->entry().hash, scan_->entry().key, key_);
    entry_.hash = place_of_slice(tables_[table_].first);
    entry_.key = key_;
    entry_.value = scan_->entry().value;
    return true;
  }
  const SpilledEntry& entry() const override { return entry_; }

 private:
  bool open() {
    if (table_ == tables_.size()) return false;
    scan_ = std::make_unique<TableInHashOrder>(*tables_[table_].second);
    return true;
  }

  const SpilledSlices::Tables& tables_;
  std::size_t table_ = 0;
  std::unique_ptr<TableInHashOrder> scan_;  // null: of the next one
  std::string key_;
  SpilledEntry entry_;
};

class LeavingSlices final : public LeavingEntries {
 public:
  explicit LeavingSlices(SpilledSlices::Tables tables) : tables_(std::move(tables)) {}

  std::uint64_t size() const override {
    std::uint64_t entries = 0;
    for (const auto& each : tables_) entries += each.second->size();
    return entries;
  }
  std::size_t memory_bytes() const override {
    std::size_t bytes = 0;
    for (const auto& each : tables_) bytes += each.second->memory_bytes();
    return bytes;
  }
  Held find(std::uint64_t hash, std::string_view key, std::string& value) const override {
    for (const auto& [slice, table] : tables_) {
      if (place_of_slice(slice) != hash) continue;
      HUMMER_ASSERT(key.size() >= sizeof(std::uint64_t));
      key.remove_prefix(sizeof(std::uint64_t));
      return LeavingTable(table, 0).find(0, key, value);
    }
    return Held::no;
  }
  std::unique_ptr<SpilledScan> in_order() const override {
    return std::make_unique<TablesInOrder>(tables_);
  }

 private:
  const SpilledSlices::Tables tables_;
};

}  // namespace

Status SpilledSlices::advance(std::size_t entries) {
  if (store_ == nullptr) return {};
  // Those of slices that are done with have gone.
  entries_left_ = std::min(entries_left_, entries);
  if (store_->leaving()) HUMMER_TRY(store_->keep_pace(entries - entries_left_));
  return store_->advance();
}

void SpilledSlices::leave(Tables tables, std::size_t entries) {
  make_store();
  for (const auto& [slice, table] : tables) slices_[slice] += table->size();
  entries_left_ = entries;
  store_->leave(std::make_shared<LeavingSlices>(std::move(tables)));
}

std::unique_ptr<SpilledScan> SpilledSlices::scan(Timestamp slice, std::size_t read_bytes_at_once) {
  return std::make_unique<SliceScan>(store_->scan_hash(place_of_slice(slice), read_bytes_at_once));
}

Result<bool> SpilledSlices::merge_into(void* accumulator, bool is_new, Timestamp slice,
                                       std::string_view key, const KeyCodec& keys) {
  ByteWriter bytes(key_space_, true);
  keys.write(key, bytes);
  set_key(keys.hash_of(key), bytes.view(), key_);
  const std::uint64_t place = place_of_slice(slice);
  const Result<std::unique_ptr<SpilledScan>> scan = store_->scan_from(place, key_);
  if (!scan.ok()) return scan.status();
  const Result<bool> on_disk = (*scan)->next();
  if (!on_disk.ok()) return on_disk;
  bool found = false;
  if (*on_disk && (*scan)->entry().hash == place && (*scan)->entry().key == key_) {
    HUMMER_TRY(read_into(accumulator, is_new, (*scan)->entry().value));
    found = true;
  }
  Status status;
  store_->visit_leaving(place, key_, [&](std::string_view value) {
    status = read_into(accumulator, is_new && !found, value);
    found = true;
    return status.ok();
  });
  if (!status.ok()) return status;
  return found;
}

Status SpilledSlices::read_into(void* accumulator, bool is_new, std::string_view value) const {
  ByteReader in(value);
  return aggregate_->read(in, accumulator, is_new, false) && in.left() == 0
             ? Status()
             : undecodable_accumulator();
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

void SpilledSlices::make_store() {
  if (store_ == nullptr) store_ = make_spilled_store(*context_, options_);
}

}  // namespace hummer
