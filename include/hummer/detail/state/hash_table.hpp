// HashTable: a hash table from the bytes of keys to values of some fixed size, and what TextTable
// and IntegerTable (text_table.hpp, integer_table.hpp) are made of.
//
// Here is what is done for single entries and for all: growth, scans, snapshots, limits. It knows
// of a value how many bytes it has and is compiled once. What is done for each record is in those
// two, which know its type.
//
// Text lies in four flat tables by the length of the key (text_table.hpp); the key of an integer is
// its 8 bytes, of which zero is an entry beside the table.
//
// Thread: one. Cost: O(1) per call for one key, without prefetch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/detail/state/hash_slots.hpp>

namespace hummer {

// What a table calls with an entry that the snapshot under way has yet to write, before it changes
// it: save(of, key, value).
class SaveReference {
 public:
  using Save = void (*)(void* of, std::string_view key, const void* value);

  // Of tables whose snapshots nobody takes.
  SaveReference() = default;
  SaveReference(void* of, Save save) : of_(of), save_(save) {}
  void operator()(std::string_view key, const void* value) const {
    if (save_ != nullptr) save_(of_, key, value);
  }

 private:
  void* of_ = nullptr;
  Save save_ = nullptr;
};

class HashTable {
 public:
  enum class Keys : std::uint8_t { text, integers };

  HashTable(Keys keys, std::size_t value_bytes, std::size_t value_alignment,
            std::size_t expected_keys = 0, InstructionSet level = best_instruction_set());
  HashTable(HashTable&& other) noexcept;
  HashTable& operator=(HashTable&& other) noexcept;
  ~HashTable();

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  std::size_t memory_bytes() const;
  // Whether a batch more might take it beyond `limit_bytes`: time to empty it. Counts what its
  // entries need, not what memory it has kept from before a clear().
  bool at_limit(std::size_t limit_bytes) const;
  // Whether `more` new keys fit without growth: then a scan may go on meanwhile.
  bool has_room_for(std::size_t more) const;
  void make_room_for(std::size_t more);
  void set_dense(bool dense);  // see HashSlots

  // The value of a key, or null. Valid until the next update. For single look-ups.
  const void* find(std::string_view key) const;
  // The value of a key, zero bytes in a new entry, and whether it is new. Valid until the next
  // update. Before it changes an entry that the snapshot under way has yet to write it calls save.
  std::pair<void*, bool> find_or_add(std::string_view key, const SaveReference& save = {});

  // Reads entries from `cursor` (0 at first) on, which moves behind them, or to `scan_end` behind
  // the last. The table must not change until they have been looked at; views are valid until then.
  static constexpr std::size_t scan_end = static_cast<std::size_t>(-1);
  void read(std::size_t& cursor, FoundEntries& found) const;
  // The entry from which a scan went on at `next`, the last one's; it comes near.
  FoundEntry entry_before(std::size_t next) const;
  void expect_entry_before(std::size_t next) const;

  // A snapshot in steps. freeze() fixes what belongs to it: all entries, or with `may_be_delta`
  // those that changed since the last freeze, and answers whether only those. Then read_frozen()
  // reads them as they were, as read() does, while the table goes on; what changes before goes to
  // the `save` of the update. clear() forgets a snapshot under way.
  bool freeze(bool may_be_delta);
  bool frozen() const;
  enum class FrozenRead : std::uint8_t { some, paused, all };  // paused: many slots were looked at
  FrozenRead read_frozen(FoundEntries& found);
  // It is changed no more, and others may read it on other threads from now on, also while
  // read_frozen() goes on: no entry moves, even where a growth is under way.
  void rest();

  // Empties it and keeps the memory of the entries.
  void clear() { (void)clear_some(SIZE_MAX); }
  // A part of that, of about so many bytes; false: there is more, and nothing but this may be
  // called next.
  bool clear_some(std::size_t bytes);

  // See HashSlots.
  std::size_t longest_probe() const;

  // Visits entries from `cursor` on: visit(const FoundEntry&) answers whether to go on. Returns the
  // next cursor, or `scan_end`.
  template <typename Visit>
  std::size_t visit_from(std::size_t cursor, Visit&& visit) const {
    FoundEntries found;
    while (cursor != scan_end) {
      read(cursor, found);
      for (std::size_t i = 0; i < found.count; ++i) {
        if (!visit(found.entries[i])) return found.entries[i].next;
      }
    }
    return scan_end;
  }

 protected:
  // ---- for updates ----

  HashSlots& shorts() { return slots_[0]; }  // and integers
  HashSlots& mediums() { return slots_[1]; }

  // REQUIRES: Tracking::snapshot. The entry is about to change.
  static void save_before(HashSlots& slots, void* entry, bool is_new, const SaveReference& save);

  // Text: fills `keys`, with room in the table for the short and the medium ones.
  void take_apart(const std::string_view* views, std::size_t count, TextKeys& keys);
  // The values of the keys that are neither short nor medium, and which views they are.
  struct RestEntry {
    void* value;
    std::uint32_t index;
    bool is_new;
  };
  std::size_t find_or_add_rest(const std::string_view* views, const TextKeys& keys,
                               const SaveReference& save, RestEntry* rest);

  // Integers: the entry of zero.
  std::pair<void*, bool> find_or_add_zero(const SaveReference& save);

 private:
  static constexpr std::size_t text_kinds = 4;
  struct ZeroEntry {
    bool occupied = false;
    bool changed = false;
    bool pending = false;
    ZeroedPages value;
  };

  std::span<HashSlots> slots() { return {slots_.data(), by_text() ? text_kinds : 1}; }
  std::span<const HashSlots> slots() const { return {slots_.data(), by_text() ? text_kinds : 1}; }
  bool by_text() const { return keys_ == Keys::text; }

  // Calls with the slots where it is, and where in them; of the integer zero with none.
  template <typename Visit>
  auto at_entry_before(std::size_t next, Visit&& visit) const;
  TextSlotsPlan plan() const;
  void* find_slot(std::string_view key) const;
  std::pair<void*, bool> find_or_add_text(std::string_view key, const SaveReference& save);
  std::pair<void*, bool> find_or_add_integer(std::uint64_t key, const SaveReference& save);
  std::pair<void*, bool> find_or_add_long(std::string_view view, std::uint64_t hash,
                                          Tracking tracking, const SaveReference& save);
  template <typename Key, typename Fill>
  static std::pair<void*, bool> found_or_added(HashSlots& slots, void* entry, Fill&& fill,
                                               Tracking tracking, const SaveReference& save);
  void read_zero(FoundEntries& found) const;
  const char* keep_text(std::string_view text);

  Keys keys_;
  FindTextKeys find_keys_;
  std::size_t value_bytes_;
  std::array<HashSlots, text_kinds> slots_;  // short, medium, wide, long; or integers
  ZeroEntry zero_;
  std::vector<std::unique_ptr<char[]>> arena_;  // long keys
  char* arena_next_ = nullptr;
  std::size_t arena_left_ = 0;
  std::size_t arena_bytes_ = 0;
};

}  // namespace hummer
