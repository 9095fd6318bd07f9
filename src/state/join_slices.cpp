#include <hummer/detail/state/join_slices.hpp>

#include <algorithm>

#include <hummer/detail/connector_context.hpp>

namespace hummer {
namespace {

enum Section : std::uint8_t { end_of_sections, section_follows };

// Times in order as numbers without a sign.
std::uint64_t place_of_slice(Timestamp slice) {
  return static_cast<std::uint64_t>(slice) ^ std::uint64_t{1} << 63;
}
Timestamp slice_at(std::uint64_t place) {
  return static_cast<Timestamp>(place ^ std::uint64_t{1} << 63);
}

// On disk the key says where an entry lies within its slice, and the value when it came.
struct DiskKey {
  std::uint64_t hash;
  std::uint64_t spill;
  std::uint64_t where;

  static DiskKey of(std::uint64_t hash, std::uint64_t spill, std::uint64_t where) {
    return {__builtin_bswap64(hash), __builtin_bswap64(spill), __builtin_bswap64(where)};
  }
  std::string_view view() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};
using CameWith = std::uint32_t;  // how many snapshots had begun before

Status cut_short() {
  return {ErrorCode::corrupt_record, "the state of a window join cannot be decoded"};
}

}  // namespace

JoinSlices::JoinSlices(std::array<WriteRecord, 2> write_record) : write_record_(write_record) {}
JoinSlices::~JoinSlices() = default;

void JoinSlices::drop_first() {
  const Timestamp slice = slices_.begin()->first;
  slices_.erase(slices_.begin());
  for (const auto& store : stores_) {
    if (store != nullptr) store->drop_before(place_of_slice(slice) + 1);
  }
}

std::size_t JoinSlices::memory_bytes() const {
  std::size_t bytes =
      memory_.bytes() + scratch_.capacity() * sizeof(RecordLog::Place) + entries_.memory_bytes();
  for (const auto& store : stores_) bytes += store == nullptr ? 0 : store->memory_bytes();
  return bytes;
}

// ---- on disk ----

std::size_t JoinSlices::log_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [start, slice] : slices_) {
    for (const RecordLog& log : slice.logs) bytes += log.memory_bytes();
  }
  return bytes;
}

Status JoinSlices::keep_within(std::size_t share_bytes) {
  if (memory_bytes() <= share_bytes) return {};
  memory_.release_spare();
  std::vector<RecordLog::Place>().swap(scratch_);
  // What a snapshot under way holds is no reason to put everything else on disk at once.
  const std::size_t others = memory_bytes() - log_bytes() - memory_.parting_bytes();
  const std::size_t parting = std::min(share_bytes / 4 * 3, memory_.parting_bytes());
  const std::size_t room = share_bytes - std::min(share_bytes, others + parting);
  if (log_bytes() <= room) return {};
  if (parting > 0) connector_context(*context_).hurry_snapshot();
  return spill(room / 2);
}

// The largest, until the others hold no more than this.
Status JoinSlices::spill(std::size_t left_bytes) {
  struct Log {
    Timestamp start;
    JoinSlice* slice;
    std::size_t side;
    std::size_t bytes;
  };
  std::vector<Log> logs;
  std::size_t bytes = 0;
  for (auto& [start, slice] : slices_) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (slice.logs[side].empty()) continue;
      logs.push_back({start, &slice, side, slice.logs[side].memory_bytes()});
      bytes += logs.back().bytes;
    }
  }
  std::sort(logs.begin(), logs.end(), [](const Log& a, const Log& b) { return a.bytes > b.bytes; });
  std::array<std::vector<std::pair<Timestamp, JoinSlice*>>, 2> of_sides;
  for (std::size_t i = 0; i < logs.size() && (i == 0 || bytes > left_bytes); ++i) {
    of_sides[logs[i].side].emplace_back(logs[i].start, logs[i].slice);
    bytes -= logs[i].bytes;
  }
  for (std::size_t side = 0; side < 2; ++side) {
    std::sort(of_sides[side].begin(), of_sides[side].end());
    if (!of_sides[side].empty()) HUMMER_TRY(spill_side(side, of_sides[side]));
  }
  memory_.release_spare();
  return {};
}

Status JoinSlices::spill_side(std::size_t side,
                              const std::vector<std::pair<Timestamp, JoinSlice*>>& logs) {
  std::unique_ptr<SpilledStore>& store = stores_[side];
  if (store == nullptr) store = make_spilled_store(*context_, {});
  std::uint64_t entries = 0;
  for (const auto& [start, slice] : logs) entries += slice->logs[side].size();
  HUMMER_TRY(store->begin_run(entries));
  std::string value;
  const std::uint64_t spill = ++spills_;
  for (const auto& [start, slice] : logs) {
    RecordLog& log = slice->logs[side];
    for (const RecordLog::Place& place : log.sort(nullptr)) {
      const DiskKey key = DiskKey::of(place.hash, spill, place.where);
      const RecordEntry& entry = log.entry(place.where);
      const CameWith came = place.where >= log.saved ? snapshots_ : snapshots_ - 1;
      value.assign(reinterpret_cast<const char*>(&came), sizeof came);
      value.append(reinterpret_cast<const char*>(&entry), entry.size());
      HUMMER_TRY(store->add(
          {.hash = place_of_slice(start), .key = key.view(), .value = value, .removed = false}));
    }
    slice->on_disk[side] += log.size();
    log.clear();
  }
  return store->finish_run();
}

std::unique_ptr<SpilledScan> JoinSlices::scan(Timestamp slice, std::size_t side,
                                              std::size_t read_bytes_at_once) {
  const auto found = slices_.find(slice);
  if (found == slices_.end() || found->second.on_disk[side] == 0) return nullptr;
  return stores_[side]->scan_hash(place_of_slice(slice), read_bytes_at_once);
}

std::uint64_t JoinSlices::hash_of(const SpilledEntry& entry) {
  DiskKey key{};
  HUMMER_ASSERT(entry.key.size() == sizeof key);
  std::memcpy(&key, entry.key.data(), sizeof key);
  return __builtin_bswap64(key.hash);
}
std::string_view JoinSlices::bytes_of(const SpilledEntry& entry) {
  HUMMER_ASSERT(entry.value.size() >= sizeof(CameWith) + sizeof(RecordEntry));
  return entry.value.substr(sizeof(CameWith));
}

bool JoinSlices::some_ahead_of(Timestamp end) const {
  return std::any_of(origins_.begin(), origins_.end(),
                     [end](Timestamp time) { return time >= end; });
}

// ---- snapshot ----

bool JoinSlices::freeze(bool may_be_delta) {
  delta_ = may_be_delta && snapshots_ > 0 && !writing_;
  writing_ = true;
  ++snapshots_;
  HUMMER_ASSERT(snapshots_ != 0);
  frozen_.clear();
  frozen_slices_.clear();
  for (auto& [start, slice] : slices_) {
    frozen_slices_.push_back(start);
    for (std::size_t side = 0; side < 2; ++side) freeze_log(start, side, slice.logs[side], delta_);
  }
  for (std::size_t side = 0; side < 2; ++side) {
    frozen_blocks_[side].reset();
    if (stores_[side] != nullptr) frozen_blocks_[side] = stores_[side]->freeze(delta_).blocks;
  }
  block_ = {};
  block_at_ = 0;
  entries_.begin(context_);
  section_.reset();
  return delta_;
}

void JoinSlices::freeze_log(Timestamp slice, std::size_t side, RecordLog& log, bool delta) {
  const RecordLog::Where from = delta ? log.saved : 0;
  const auto& chunks = log.chunks();
  for (std::size_t i = from >> 32; i < chunks.size(); ++i) {
    const std::size_t begin = i == from >> 32 ? static_cast<std::uint32_t>(from) : 0;
    if (begin < chunks[i]->used)
      frozen_.push_back({slice, side, chunks[i], begin, chunks[i]->used});
  }
  log.saved = log.end();
}

Result<bool> JoinSlices::write_frozen(ByteWriter& out, std::size_t until_bytes) {
  if (!writing_) return true;
  entries_.begin_step();
  // What is on disk came first: so records are restored in the order in which they came.
  const Result<bool> all = write_disk(out, until_bytes);
  if (!all.ok() || !*all) return all;
  write_chunks(out, until_bytes);
  if (!frozen_.empty() || !entries_.flush(out, until_bytes)) return false;
  out.put_value(end_of_sections);
  writing_ = false;
  return true;
}

void JoinSlices::write_chunks(ByteWriter& out, std::size_t until_bytes) {
  while (!frozen_.empty() && !entries_.enough(out, until_bytes)) {
    FrozenChunk& next = frozen_.front();
    const RecordEntry& entry = RecordEntry::at(next.chunk->data() + next.begin);
    write_entry(next.slice, next.side, entry, out);
    next.begin += entry.size();
    if (next.begin == next.end) frozen_.pop_front();
  }
}

Result<bool> JoinSlices::write_disk(ByteWriter& out, std::size_t until_bytes) {
  for (std::size_t side = 0; side < 2; ++side) {
    std::unique_ptr<SpilledBlocks>& blocks = frozen_blocks_[side];
    while (blocks != nullptr) {
      if (entries_.enough(out, until_bytes)) return false;
      if (block_at_ == block_.size()) {
        const Result<std::string_view> block = blocks->next();
        if (!block.ok()) return block.status();
        block_ = *block;
        block_at_ = 0;
        if (block_.empty()) blocks.reset();
        // What is not new was only looked at: the next step goes on.
        if (blocks != nullptr && delta_) return false;
        continue;
      }
      SpilledEntry entry;
      HUMMER_ASSERT(read_spilled_entry(block_, block_at_, entry));
      if (!is_frozen(entry)) continue;
      aligned_.assign(bytes_of(entry));
      write_entry(slice_at(entry.hash), side, RecordEntry::at(aligned_.data()), out);
    }
  }
  return true;
}

void JoinSlices::write_entry(Timestamp slice, std::size_t side, const RecordEntry& entry,
                             ByteWriter& out) {
  if (section_ != std::pair(slice, side)) {
    section_ = {slice, side};
    std::array<char, 2 + sizeof slice> space{};
    ByteWriter head{std::span<char>(space)};
    head.put_value(section_follows);
    head.put_value(slice);
    head.put_value(static_cast<std::uint8_t>(side));
    entries_.begin_section(head.view(), {}, true);
  }
  const std::uint64_t hash = hash_bytes(entry.key().data(), entry.key().size());
  if (write_record_[side] == nullptr) {
    entries_.add(hash, out, [&](ByteWriter& to) { to.put(&entry, entry.size()); });
    return;
  }
  ByteWriter encoded(encoded_);
  write_record_[side](entry.record(), encoded);
  RecordEntry head = entry;
  head.record_bytes = static_cast<std::uint32_t>(encoded.size());
  written_.resize(head.size());
  std::memcpy(write_entry_head(written_.data(), head, entry.key()), encoded.view().data(),
              encoded.size());
  entries_.add(hash, out, [&](ByteWriter& to) { to.put(written_.data(), written_.size()); });
}

// Its slice was there, and it is new where only that is written.
bool JoinSlices::is_frozen(const SpilledEntry& entry) const {
  CameWith came = 0;
  std::memcpy(&came, entry.value.data(), sizeof came);
  if (delta_ && came + 1 != snapshots_) return false;
  return std::binary_search(frozen_slices_.begin(), frozen_slices_.end(), slice_at(entry.hash));
}

Status JoinSlices::restore(ByteReader& in, const TakeEntry& take,
                           const std::function<Status()>& make_room) {
  for (;;) {
    in.let_go();
    std::uint8_t mark = 0;
    std::uint8_t side = 0;
    Timestamp slice = 0;
    std::string_view bytes;
    if (!in.get_value(mark) || mark > section_follows) return cut_short();
    if (mark == end_of_sections) return {};
    if (!in.get_value(slice) || !in.get_value(side) || side > 1 || !in.get_text(bytes)) {
      return cut_short();
    }
    while (!bytes.empty()) {
      RecordEntry head;
      if (bytes.size() < sizeof head) return cut_short();
      std::memcpy(&head, bytes.data(), sizeof head);
      if (head.size() > bytes.size()) return cut_short();
      // As it lay when it was written: aligned.
      aligned_.assign(bytes.substr(0, head.size()));
      bytes.remove_prefix(head.size());
      if (!take(slice, side, RecordEntry::at(aligned_.data()))) return cut_short();
    }
    HUMMER_TRY(make_room());
  }
}

}  // namespace hummer
