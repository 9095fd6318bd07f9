// RecordLog: records as bytes in the order in which they came, with an index by the hash of their
// keys: what a join keeps of one side of one slice of time.
//
// An entry is a head, the key's bytes and the record's encoding, each part padded to eight bytes,
// so that a record whose memory is its encoding can be read where it lies. Entries lie in chunks
// that never move and are never written again, so a snapshot holds on to chunks and copies nothing
// when it begins. The index is a place of 16 bytes for each entry, which sort() brings into order
// of hash, then of arrival.
//
//   char* at = log.reserve(entry_bytes(key.size(), record_bytes));
//   write_entry(at, {...}, key, record);
//   log.commit(hash, bytes);
//
// RecordMemory: what the logs of one operator hold together, and their spare chunks: a log that is
// cleared gives its chunks to the next one, so that windows in steady state touch no new page.
//
// Lifecycle: a RecordMemory outlives the logs and chunks that count in it. Thread: that of the
// operator. Cost: append: a copy of the bytes; sort: about 15 ns per entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <hummer/batch.hpp>

namespace hummer {

struct RecordEntry {
  Timestamp time = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t record_bytes = 0;
  std::uint32_t origin = 0;  // see JoinSlices
  std::uint32_t unused = 0;

  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }
  static constexpr std::size_t size_of(std::size_t key_bytes, std::size_t record_bytes) {
    return sizeof(RecordEntry) + padded(key_bytes) + padded(record_bytes);
  }
  std::size_t size() const { return size_of(key_bytes, record_bytes); }
  std::string_view key() const {
    return {reinterpret_cast<const char*>(this) + sizeof(RecordEntry), key_bytes};
  }
  std::string_view record() const {
    return {reinterpret_cast<const char*>(this) + sizeof(RecordEntry) + padded(key_bytes),
            record_bytes};
  }
  // The entry that begins at `bytes`, which are aligned to eight.
  static const RecordEntry& at(const char* bytes) {
    return *reinterpret_cast<const RecordEntry*>(bytes);
  }
};

class RecordChunk;

class RecordMemory {
 public:
  RecordMemory();
  ~RecordMemory();
  RecordMemory(const RecordMemory&) = delete;
  RecordMemory& operator=(const RecordMemory&) = delete;

  // With spare chunks, and with what only a snapshot under way still holds.
  std::size_t bytes() const { return bytes_; }
  // The latter.
  std::size_t parting_bytes() const { return parting_bytes_; }

  std::shared_ptr<RecordChunk> take(std::size_t bytes_at_least, bool first);
  void give_back(std::shared_ptr<RecordChunk> chunk);
  // Frees the spare chunks that nobody has needed since the last time.
  void trim();
  void release_spare();
  void count(std::size_t from, std::size_t to) { bytes_ += to - from; }

 private:
  friend class RecordChunk;
  std::size_t bytes_ = 0;
  std::size_t parting_bytes_ = 0;
  std::vector<std::shared_ptr<RecordChunk>> spare_;
  std::size_t fewest_spare_ = 0;  // since trim()
};

class RecordChunk {
 public:
  RecordChunk(RecordMemory& memory, std::size_t size_bytes);
  ~RecordChunk();
  RecordChunk(const RecordChunk&) = delete;
  RecordChunk& operator=(const RecordChunk&) = delete;

  char* data() const { return data_.get(); }
  std::size_t size() const { return size_bytes_; }

  std::size_t used = 0;

 private:
  friend class RecordMemory;
  RecordMemory& memory_;
  const std::unique_ptr<char[]> data_;
  const std::size_t size_bytes_;
  bool is_parting_ = false;
};

class RecordLog {
 public:
  // Of an entry: its chunk's number in the upper half, where it begins there in the lower one.
  using Where = std::uint64_t;
  struct Place {
    std::uint64_t hash;
    Where where;
  };

  explicit RecordLog(RecordMemory& memory) : memory_(&memory) {}
  RecordLog(RecordLog&&) = delete;
  ~RecordLog() { clear(); }

  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  std::size_t memory_bytes() const { return chunk_bytes_ + places_.capacity() * sizeof(Place); }

  // Room for an entry of so many bytes. Valid until the next call.
  char* reserve(std::size_t bytes) {
    if (bytes > room_) [[unlikely]]
      grow(bytes);
    return next_;
  }
  // What is left behind the next entry's beginning: one that fits needs no reserve().
  std::size_t room() const { return room_; }
  char* next() const { return next_; }
  // The entry that was written there.
  void commit(std::uint64_t hash, std::size_t bytes) {
    if (places_.size() == places_.capacity()) [[unlikely]]
      grow_places();
    places_.push_back({hash, end()});
    is_sorted_ = false;
    next_ += bytes;
    room_ -= bytes;
    chunks_.back()->used += bytes;
  }
  const RecordEntry& entry(Where where) const {
    return RecordEntry::at(starts_[where >> 32] + static_cast<std::uint32_t>(where));
  }
  // Of the next entry.
  Where end() const {
    if (chunks_.empty()) return 0;
    return std::uint64_t{chunks_.size() - 1} << 32 | chunks_.back()->used;
  }

  // In order of hash, then of arrival. `scratch` is used where there is room for it; null: none.
  const std::vector<Place>& sort(std::vector<Place>* scratch);

  // The chunks, in order.
  const std::vector<std::shared_ptr<RecordChunk>>& chunks() const { return chunks_; }
  // Up to where a snapshot has it.
  Where saved = 0;

  void clear();

 private:
  void grow(std::size_t bytes);
  void grow_places();

  RecordMemory* memory_;
  std::vector<std::shared_ptr<RecordChunk>> chunks_;
  std::vector<char*> starts_;  // of the chunks
  char* next_ = nullptr;
  std::size_t room_ = 0;
  std::size_t chunk_bytes_ = 0;
  std::vector<Place> places_;
  bool is_sorted_ = true;
};

// Writes head and key at `at`; where the record goes, whose padding is cleared. REQUIRES: room.
inline char* write_entry_head(char* at, const RecordEntry& head, std::string_view key) {
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  const std::size_t key_bytes = RecordEntry::padded(key.size());
  if (key_bytes != 0) {
    std::memset(at + key_bytes - 8, 0, 8);
    std::memcpy(at, key.data(), key.size());
    at += key_bytes;
  }
  const std::size_t record_bytes = RecordEntry::padded(head.record_bytes);
  if (record_bytes != 0) std::memset(at + record_bytes - 8, 0, 8);
  return at;
}

// By hash; equal ones stay in order. `scratch`: as many; null: slower.
void sort_places(RecordLog::Place* places, std::size_t count, RecordLog::Place* scratch);

}  // namespace hummer
