// RecordList<T>: a keyed state of records with their times, in the order in which they came: what a
// session join keeps of a key. In snapshots it is a ListState<Timed<T>>.
//
// A key's records lie in chunks that never move, of one record, then two, four and so on up to
// about four kilobytes. Chunks that are given up wait for the next key, up to a few hundred
// kilobytes of each size: keys that come and go for each session need no allocation.
//
// Lifecycle: that of a state (keyed_backend.hpp); it outlives the store's entries. Thread: that of
// the operator. References to records are good until they are removed. Time to live: none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/timed_records.hpp>
#include <hummer/detail/state/state_cells.hpp>

namespace hummer {

// Memory in pieces of a few sizes, used again. A copy has none: a function is copied with its
// states for each subtask.
class ChunkPool {
 public:
  ChunkPool() = default;
  ChunkPool(const ChunkPool&) {}
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() {
    for (std::vector<void*>& chunks : free_) {
      for (void* const chunk : chunks) ::operator delete(chunk);
    }
  }

  // `size`: one of a few, the same when it is given back.
  void* take(std::size_t size, std::size_t bytes) {
    std::vector<void*>& chunks = free_[size];
    if (chunks.empty()) return ::operator new(bytes);
    void* const chunk = chunks.back();
    chunks.pop_back();
    return chunk;
  }
  void give_back(void* chunk, std::size_t size, std::size_t bytes) {
    constexpr std::size_t most_bytes = 256 << 10;  // of a size
    if (free_[size].size() * bytes < most_bytes) {
      free_[size].push_back(chunk);
    } else {
      ::operator delete(chunk);
    }
  }

  static constexpr std::size_t sizes = 16;

 private:
  std::array<std::vector<void*>, sizes> free_;
};

template <typename T>
class RecordList final : public KeyedState {
  using Item = Timed<T>;
  static_assert(detail::check_state_type<Item>() || true);
  static_assert(alignof(Item) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  struct Chunk {
    Chunk* next = nullptr;
    std::uint32_t size = 0;  // of its memory: it has room for 2^size
    std::uint32_t count = 0;
    std::size_t bytes = 0;  // of the list up to its end, with what records hold beside themselves

    Item* items() { return reinterpret_cast<Item*>(reinterpret_cast<char*>(this) + items_at); }
  };
  static constexpr std::size_t items_at =
      (sizeof(Chunk) + alignof(Item) - 1) / alignof(Item) * alignof(Item);
  struct Cell {
    Chunk* first = nullptr;
    Chunk* last = nullptr;
  };

 public:
  explicit RecordList(std::string_view name) : KeyedState(name, {}) {}

  void add(Timestamp time, const T& record) {
    KeyedEntry& entry = backend().obtain();
    backend().changing(entry);
    const bool was_empty = cell(entry).first == nullptr;
    emplace(cell(entry), time, record);
    if (was_empty) entry.count(true);
  }
  // Goes through the records of a key in the order in which they came, as long as none is added or
  // removed.
  class Cursor {
   public:
    Cursor() = default;
    explicit operator bool() const { return chunk_ != nullptr; }
    const Item* operator->() const { return chunk_->items() + at_; }
    void next() {
      if (++at_ < chunk_->count) return;
      chunk_ = chunk_->next;
      at_ = 0;
    }

   private:
    friend class RecordList;
    explicit Cursor(Chunk* first) : chunk_(first) {}

    Chunk* chunk_ = nullptr;
    std::uint32_t at_ = 0;
  };
  // Of the key in hand.
  Cursor begin() const {
    KeyedEntry* const entry = backend().find();
    return entry == nullptr ? Cursor() : Cursor(cell(*entry).first);
  }
  // visit(const Timed<T>&), in the order in which they came.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    KeyedEntry* const entry = backend().find();
    if (entry != nullptr) each(cell(*entry), visit);
  }
  // visit(const Timed<T>&) → bool, until it answers true; whether it did.
  template <typename Visit>
  bool any_of(Visit&& visit) const {
    KeyedEntry* const entry = backend().find();
    if (entry == nullptr) return false;
    for (Chunk* chunk = cell(*entry).first; chunk != nullptr; chunk = chunk->next) {
      if (std::any_of(chunk->items(), chunk->items() + chunk->count, visit)) return true;
    }
    return false;
  }
  // Those for which is_gone(const Timed<T>&) holds go.
  template <typename IsGone>
  void remove_if(IsGone&& is_gone) {
    change([&](Cell& all) {
      Cell kept;
      for (Chunk* chunk = all.first; chunk != nullptr; chunk = chunk->next) {
        for (std::uint32_t i = 0; i < chunk->count; ++i) {
          Item& item = chunk->items()[i];
          if (!is_gone(std::as_const(item))) emplace(kept, item.time, std::move(item.record));
        }
      }
      release(all);
      all = kept;
    });
  }
  void clear() {
    change([this](Cell& all) { release(all); });
  }

  // ---- for the backend ----

  std::string describe_type() const override {
    return "list<" + detail::StateCodec<Item>::name() + ">";
  }
  std::size_t cell_size() const override { return sizeof(Cell); }
  std::size_t cell_alignment() const override { return alignof(Cell); }
  void construct(KeyedEntry& entry) const override { new (cell_of(entry)) Cell(); }
  void destroy(KeyedEntry& entry) const override { release(cell(entry)); }
  bool present(const KeyedEntry& entry) const override { return cell(entry).first != nullptr; }
  // As ListCell does.
  void encode(const KeyedEntry& entry, ByteWriter& out) const override {
    std::uint32_t count = 0;
    each(cell(entry), [&](const Item&) { ++count; });
    out.put_value(count);
    out.put_value(std::uint8_t{0});
    each(cell(entry), [&](const Item& item) { detail::StateCodec<Item>::encode(item, out); });
  }
  bool decode(ByteReader& in, KeyedEntry& entry) const override {
    std::uint32_t count = 0;
    std::uint8_t has_expiries = 0;
    if (!in.get_value(count) || !in.get_value(has_expiries) || count == 0 || has_expiries != 0) {
      return false;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      Item item{};
      if (!detail::StateCodec<Item>::decode(in, item)) return false;
      const bool was_empty = cell(entry).first == nullptr;
      emplace(cell(entry), item.time, std::move(item.record));
      if (was_empty) entry.count(true);
    }
    return true;
  }
  void expire(KeyedEntry&, Timestamp) const override {}
  Timestamp last_expiry(const KeyedEntry&) const override { return never_expires; }
  std::size_t heap_bytes(const KeyedEntry& entry) const override {
    const Chunk* const last = cell(entry).last;
    return last == nullptr ? 0 : last->bytes;
  }
  bool uses_heap() const override { return true; }

 private:
  static constexpr std::size_t allocation_bytes = 16;
  static constexpr std::size_t largest_bytes = 4096;

  static constexpr std::size_t bytes_of(std::uint32_t size) {
    return items_at + (sizeof(Item) << size);
  }
  static constexpr std::uint32_t largest_size() {
    std::uint32_t size = 0;
    while (size + 1 < ChunkPool::sizes && bytes_of(size + 1) <= largest_bytes) ++size;
    return size;
  }

  Cell& cell(KeyedEntry& entry) const { return *static_cast<Cell*>(cell_of(entry)); }
  const Cell& cell(const KeyedEntry& entry) const {
    return *static_cast<const Cell*>(cell_of(entry));
  }

  // Of the key in hand, if it has any.
  template <typename Change>
  void change(Change&& change) {
    KeyedEntry* const entry = backend().find();
    if (entry == nullptr || cell(*entry).first == nullptr) return;
    backend().changing(*entry);
    change(cell(*entry));
    if (cell(*entry).first == nullptr) entry->count(false);
  }

  template <typename Visit>
  static void each(const Cell& cell, Visit&& visit) {
    for (Chunk* chunk = cell.first; chunk != nullptr; chunk = chunk->next) {
      for (std::uint32_t i = 0; i < chunk->count; ++i) visit(std::as_const(chunk->items()[i]));
    }
  }
  template <typename Record>
  void emplace(Cell& cell, Timestamp time, Record&& record) const {
    Chunk* chunk = cell.last;
    if (chunk == nullptr || chunk->count >> chunk->size != 0) {
      const std::uint32_t size = chunk == nullptr ? 0 : std::min(chunk->size + 1, largest_size());
      const std::size_t bytes = chunk == nullptr ? 0 : chunk->bytes;
      chunk = new (pool_.take(size, bytes_of(size))) Chunk{.size = size};
      chunk->bytes = bytes + bytes_of(size) + allocation_bytes;
      try {
        std::construct_at(chunk->items(), Item{time, std::forward<Record>(record)});
      } catch (...) {
        pool_.give_back(chunk, size, bytes_of(size));
        throw;
      }
      chunk->count = 1;
      chunk->bytes += detail::heap_bytes_of(chunk->items()->record);
      (cell.last == nullptr ? cell.first : cell.last->next) = chunk;
      cell.last = chunk;
      return;
    }
    std::construct_at(chunk->items() + chunk->count, Item{time, std::forward<Record>(record)});
    chunk->bytes += detail::heap_bytes_of(chunk->items()[chunk->count].record);
    ++chunk->count;
  }
  void release(Cell& cell) const {
    for (Chunk* chunk = cell.first; chunk != nullptr;) {
      std::destroy_n(chunk->items(), chunk->count);
      Chunk* const next = chunk->next;
      pool_.give_back(chunk, chunk->size, bytes_of(chunk->size));
      chunk = next;
    }
    cell = {};
  }

  mutable ChunkPool pool_;
};

}  // namespace hummer
