// KeyedStore<K>: the table behind the states of a keyed operator: key → entry,
// with everything that belongs to a key hanging from its entry.
//
// An entry is one block of memory: head, key (store_entry.hpp), and a cell for each state. Blocks
// lie in slabs (entry_slabs.hpp); an index of their numbers finds them by hash. Timers of both
// kinds (keyed_timers.hpp) are ordered by time, then by key (integers by value, other keys by their
// canonical bytes), which is the order they fire in: the same on every run.
//
// The key in hand is named by set_key() (or an entry of a timer); it is hashed
// when a state is touched, at most once. An entry with nothing left in it is
// removed when the next key is named.
//
// An operator that has many records at hand names their keys together (expect()): what has to be
// read of memory to find one entry then does not wait for what is read for the others. They are
// taken in hand one by one as before (set_expected_key()), and a key that is in memory is found at
// once. Nothing depends on it but time: what is expected may never come, and entries may come, go
// and move meanwhile.
//
// Beyond its operator's share of memory entries go to disk: keyed_spill.hpp. Of many batches that
// wait look_ahead() notes the keys that have no entry in memory, and fetch_ahead() brings those of
// them that are on disk, in one pass over it (looks_ahead.hpp).
//
// Snapshot: freeze() writes key type and the states with their names and types, write_frozen() in
// steps every entry with its timers, or those that changed since the last one and the keys that
// are gone, while the store goes on: an entry that changes before it was written is saved first.
// An entry knows in which generation (stretch between two snapshots) it changed last, so freezing
// is the increment of a number; what is on disk follows as it was then (keyed_spill.hpp). restore()
// takes any subtask's and keeps the keys that are owned here. Thread: that of the operator.
// Ownership: states are bound to it by their address and outlive it.
//
// KeyedStoreBase: all that needs no type of the key; KeyedStore<K>: how a key is taken in hand,
// looked up, written and read.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/looks_ahead.hpp>
#include <hummer/detail/state/entry_index.hpp>
#include <hummer/detail/state/entry_slabs.hpp>
#include <hummer/detail/state/expected_entries.hpp>
#include <hummer/detail/state/keyed_backend.hpp>
#include <hummer/detail/state/keyed_spill.hpp>
#include <hummer/detail/state/keyed_timers.hpp>
#include <hummer/detail/state/missing_keys.hpp>
#include <hummer/detail/state/ordered_key.hpp>
#include <hummer/detail/state/saved_entries.hpp>
#include <hummer/operator.hpp>

namespace hummer {

class KeyedStoreBase : public KeyedBackend {
 public:
  using Entry = StoreEntry;

  KeyedStoreBase(const KeyedStoreBase&) = delete;
  KeyedStoreBase& operator=(const KeyedStoreBase&) = delete;

  // Once, before everything else.
  Status bind(std::vector<KeyedState*> states);
  // Behind bind: what it holds is counted from now on, and kept within the operator's share.
  void open(OperatorContext& context) { spill_.open(context); }

  // ---- the key in hand ----

  void set_entry(Entry& entry);
  [[gnu::always_inline]] void leave_key() {  // per record
    if (current_ != nullptr && (current_->live == 0 || spill_.counts_heap())) leave_entry();
    current_ = nullptr;
    looked_up_ = false;
    key_ = nullptr;
  }

  // Calls with one key after the other in hand, of those in memory; it may change their states.
  void visit_keys(const std::function<void()>& visit);

  std::size_t size() const { return index_.size(); }
  // Without what values hold beside their cells, and without timers.
  std::size_t memory_bytes() const { return slabs_.memory_bytes() + index_.memory_bytes(); }

  // ---- beyond memory: see KeyedSpill ----

  bool limited() const { return spill_.limited(); }
  const Status& failure() const { return spill_.failure(); }
  Status keep_within_share() {
    leave_key();
    return spill_.keep_within_share();
  }

  // How many records look_ahead() had best be shown now; none: it does not pay.
  LooksAhead::Reach reach() const { return spill_.reach(); }
  // Brings what look_ahead() found missing, as much as there is room for, a part of it with each
  // call. True: that was all.
  Result<bool> fetch_ahead();

  // ---- timers ----

  void set_timer(TimerKind kind, Timestamp time) override;
  void delete_timer(TimerKind kind, Timestamp time) override;
  // When the next one may be due; end_of_time when there is none.
  Timestamp next_timer(TimerKind kind);
  // Whether there is one up to `limit`; keys on disk come back for theirs. REQUIRES: no key in
  // hand.
  bool due_timer(TimerKind kind, Timestamp limit);
  // Takes it away, and its key in hand; when it was due. REQUIRES: due_timer was the last call.
  Timestamp take_timer(TimerKind kind);

  // ---- time to live ----

  bool has_ttl() const { return least_ttl_ms_ != INT64_MAX; }
  std::int64_t least_ttl_ms() const { return least_ttl_ms_; }
  // Removes what has outlived its time at the next `count` places; true: the round through
  // all of them is complete. REQUIRES: no key in hand.
  bool sweep(std::size_t count);

  // ---- snapshot ----

  // Fixes what write_frozen() then writes: every entry, or with `may_be_delta` what has changed
  // since the last time; answers whether only that. Cheap. One under way is given up, and then
  // everything is written.
  Result<bool> freeze(bool may_be_delta, ByteWriter& out);
  // Writes entries, until `out` holds about so many bytes, or many places were looked at; true:
  // that was all.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes);

  // What freeze() and write_frozen() have written. `delta`: on what was restored before. What there
  // is no room for goes to disk meanwhile.
  Status restore(ByteReader& in, const OperatorContext& context, RestoreOptions options,
                 bool delta);

 protected:
  KeyedStoreBase(KeyForm keys, bool keys_are_text, std::size_t entry_bytes, TimerKinds timers);

  // ---- of the key's type ----

  // An entry with the key in hand, which is looked up.
  virtual Entry& make_entry(void* place) = 0;
  virtual void destroy_entry(Entry& entry) = 0;
  virtual void take_in_hand(const Entry& entry) = 0;
  // Whose ordered bytes (ordered_key.hpp) these are.
  virtual void take_in_hand(std::string_view ordered) = 0;
  // Whose bytes (KeyForm::bytes) these are; it is looked up. False: it has an entry by now.
  virtual bool take_missing(std::uint64_t hash, std::string_view bytes) = 0;
  virtual std::string key_type() const = 0;
  virtual void encode_key(const Entry& entry, ByteWriter& out) const = 0;
  // A key of a snapshot. False: not valid. take_decoded_key() takes it in hand.
  [[nodiscard]] virtual bool decode_key(ByteReader& in, const OperatorContext& context,
                                        bool& is_owned) = 0;
  virtual void take_decoded_key() = 0;

  [[noreturn]] static void no_key_in_hand();
  // leave_key() where there is hardly ever one.
  [[gnu::cold]] void leave_key_of_before();
  [[noreturn]] static void no_hook(TimerKind kind);
  // The index has no entry of the key in hand: that on disk, or a new one, or null.
  Entry* find_elsewhere(std::uint64_t hash, std::string_view key, bool create);
  // Of the most derived class's destructor.
  void destroy_all();

  Entry* entry_at(std::uint32_t slot) const { return static_cast<Entry*>(slabs_.at(slot)); }
  // Where entries were removed since, a place may be another key's.
  std::uint64_t removals() const { return removals_; }
  bool some_on_disk() const { return spill_.some_on_disk(); }
  bool looks_further() const {
    return missing_.size() < spill_.keys_ahead() && missing_.key_bytes() < most_key_bytes_ahead;
  }
  void find_ahead(std::size_t count) { expected_.find(index_, slabs_, count); }
  void find_expected(std::size_t count) {
    if (index_.growing()) [[unlikely]]
      index_.grow_on(count);
    expected_.find(index_, slabs_, count);
    if (spill_.some_on_disk()) spill_.expect(expected_, count);
  }

  const void* key_ = nullptr;  // in hand
  EntryIndex index_;
  ExpectedEntries expected_;
  MissingKeys missing_;  // of what is ahead
  std::size_t records_ahead_ = 0;

 private:
  friend class KeyedSpill;
  static constexpr std::size_t most_key_bytes_ahead = 64 << 20;
  // Sections, where there is a second one: what was in memory, then what was on disk, of which a
  // key does not count that the first one has; then keys that are gone, whatever the second one
  // says.
  enum Mark : std::uint8_t { end_of_entries, entry_follows, entry_is_gone, section_follows };

  Entry* next_entry(std::size_t slot, std::size_t end) const {
    return static_cast<Entry*>(slabs_.next(slot, end));
  }

  void add_timer(TimerKind kind, Timestamp time, Entry& entry);
  void remove_timer(TimerKind kind, Timestamp time, Entry& entry);
  bool first_timer_is_before(TimerKind kind, Timestamp time, std::string_view key);
  void wake(std::string_view ordered_key);

  Entry& add(std::uint64_t hash);
  void leave_entry();
  void erase(Entry& entry);
  void remove(Entry& entry, std::uint64_t hash);
  void give_back(Entry& entry);
  void note_gone(const Entry& entry);
  void drop(Entry& entry);

  bool is_pending(const KeyedEntry& entry) const;
  // It says that the key is gone.
  static bool is_gone_on_disk(const Entry& entry) { return entry.live == 0 && entry.on_disk; }
  void renew(Entry& entry) const;
  void renew_all();
  void first_change(KeyedEntry& entry) override;
  void save(const Entry& entry);
  void begin_section(ByteWriter& out);
  void encode(const Entry& entry, ByteWriter& out);
  // With numbers as they are in snapshots, or packed (packed_numbers.hpp), as they are on disk.
  enum class CellForm : std::uint8_t { saved, packed };
  void encode_cells(const Entry& entry, CellForm form, ByteWriter& out);
  // The saved form of packed ones.
  static void unpack_cells(ByteReader& in, ByteWriter& out);
  Status restore_entries(ByteReader& in, const OperatorContext& context, RestoreOptions options,
                         bool delta);
  Status keep_restored(Entry& entry, int section);
  // `entry`: null: somebody else's.
  Status decode_cells(ByteReader& in, CellForm form, const std::vector<KeyedState*>& found,
                      Entry* entry, RestoreOptions options = {});
  Status restore_states(ByteReader& in, RestoreOptions options, std::vector<KeyedState*>& found);

  const KeyForm keys_;
  const bool keys_are_text_;
  const TimerKinds timer_kinds_;
  const std::size_t entry_bytes_;
  EntryParts parts_;
  KeyedSpill spill_{*this};
  std::vector<KeyedState*> states_;
  std::int64_t least_ttl_ms_ = INT64_MAX;
  EntrySlabs slabs_;
  KeyedTimers timers_{keys_};
  KeyedTimers::Timer due_;  // by due_timer
  std::size_t sweep_ = 0;
  std::uint64_t removals_ = 0;

  // Of the snapshot under way.
  bool was_frozen_ = false;  // there was one before
  bool frozen_ = false;
  bool whole_ = true;
  bool renews_ = false;
  std::uint32_t generations_since_renewal_ = 0;
  std::size_t next_frozen_ = 0;  // slot
  GroupedEntries entries_;       // on their way to its bytes
  SavedEntries saved_;           // changed before they were written, and keys that were gone
  SavedEntries gone_on_disk_;    // keys that were, of which there is an older version on disk
  SavedEntries gone_;            // keys, since it began
  bool too_many_gone_ = false;   // the next one is whole
  std::string space_;

  // Of the piece that is being restored: keys of its first section that had dropped state only.
  MissingKeys emptied_;
};

template <typename K>
class KeyedStore final : public KeyedStoreBase {
  static constexpr bool by_text =
      std::is_same_v<K, std::string_view> || std::is_same_v<K, std::string>;
  static constexpr bool by_value = std::is_integral_v<K>;
  static_assert(by_text || !holds_views<K>,
                "a composite key must own its text: use std::string in it");
  using OwnedKey = std::conditional_t<by_text, std::string, K>;
  using KeyEntry = std::conditional_t<by_value, IntegerEntry,
                                      std::conditional_t<by_text, TextEntry, EncodedEntry<K>>>;

 public:
  // Entries have room for timers where there are any. Setting one of another kind throws; a
  // snapshot with one is refused, or it is dropped (RestoreOptions).
  explicit KeyedStore(TimerKinds timers)
      : KeyedStoreBase(KeyForm::of<K>(), by_text, sizeof(KeyEntry), timers) {}
  ~KeyedStore() override { destroy_all(); }

  // REQUIRES: the key outlives its time in hand.
  void set_key(const K& key) {
    leave_key();
    key_ = &key;
  }
  // ---- many keys: see above ----

  // Answers of how many of these records the keys are expected now: the first ones, and none behind
  // one of which key_of throws, which it does when that is the first.
  template <typename T, typename KeyOf>
  std::size_t expect(std::span<const T> records, KeyOf& key_of) {
    const std::size_t count =
        expect_hashes(records.first(std::min(records.size(), ExpectedEntries::most)), key_of);
    find_expected(count);
    expected_at_ = removals();
    return count;
  }
  // set_key() of the expected record i.
  void set_expected_key(const K& key, std::size_t i) {
    if (key_ != nullptr) [[unlikely]]
      leave_key_of_before();
    key_ = &key;
    if constexpr (!by_value) take_bytes_in_hand();
    Entry* entry = expected_.entry(i);
    if (entry == nullptr || expected_at_ != removals() || !is_key_in_hand(*entry)) [[unlikely]] {
      const std::uint32_t slot = find_slot(expected_.hashes[i]);
      if (slot == EntryIndex::none) {
        looked_up_ = !some_on_disk();
        return;
      }
      entry = entry_at(slot);
    }
    current_ = entry;
    if (limited()) entry->touch();
  }

  // Records that come later. One of which key_of throws ends it: it will throw again.
  template <typename T, typename KeyOf>
  void look_ahead(std::span<const T> records, KeyOf& key_of) {
    leave_key();
    try {
      while (!records.empty() && looks_further()) {
        const std::size_t count =
            expect_hashes(records.first(std::min(records.size(), ExpectedEntries::most)), key_of);
        find_ahead(count);
        for (std::size_t i = 0; i < count; ++i) {
          if (expected_.entry(i) == nullptr) note_missing(std::invoke(key_of, records[i]), i);
        }
        records_ahead_ += count;
        records = records.subspan(count);
      }
    } catch (...) {
      key_ = nullptr;
    }
  }

  // The entry of the key in hand, made if need be: obtain() without a virtual call.
  Entry& obtain_entry() {
    if (current_ == nullptr) [[unlikely]]
      KeyedStore::look_up(true);
    return static_cast<Entry&>(*current_);
  }
  // In hand; null when there is none.
  const K* key() const { return static_cast<const K*>(key_); }
  const void* key_of_type(const TypeDescriptor& type) const override {
    return key_ != nullptr && type == type_of<K>() ? key_ : nullptr;
  }

 private:
  template <typename T, typename KeyOf>
  std::size_t expect_hashes(std::span<const T> records, KeyOf& key_of) {
    constexpr bool by_number = by_value && sizeof(K) == sizeof(std::uint64_t);
    std::size_t i = 0;
    try {
      for (; i < records.size(); ++i) {
        if constexpr (by_number) {
          expected_.numbers[i] =
              static_cast<std::uint64_t>(static_cast<K>(std::invoke(key_of, records[i])));
        } else {
          expected_.hashes[i] = key_hash<K>(std::invoke(key_of, records[i]));
        }
      }
    } catch (...) {
      if (i == 0) throw;
    }
    if constexpr (by_number) expected_.hash_numbers(i);
    return i;
  }
  void note_missing(const K& key, std::size_t i) {
    key_ = &key;
    if constexpr (!by_value) take_bytes_in_hand();
    const std::uint64_t hash = expected_.hashes[i];
    if (find_slot(hash) == EntryIndex::none) missing_.add(hash, bytes_in_hand());
    key_ = nullptr;
  }
  void look_up(bool create) override {
    if (key_ == nullptr) [[unlikely]]
      no_key_in_hand();
    looked_up_ = true;
    hash_ = key_hash_in_hand();
    const std::uint32_t slot = find_slot(hash_);
    if (slot == EntryIndex::none) {
      // Not touched until it is looked up again: most of what comes back is wanted once.
      current_ = find_elsewhere(hash_, bytes_in_hand(), create);
      return;
    }
    current_ = entry_at(slot);
    if (limited()) current_->touch();
  }
  std::uint32_t find_slot(std::uint64_t hash) const {
    return index_.find(hash, [&](std::uint32_t slot) { return is_key_in_hand(*entry_at(slot)); });
  }
  bool is_key_in_hand(const Entry& entry) const {
    if constexpr (by_value) {
      return static_cast<const KeyEntry&>(entry).number == static_cast<std::uint64_t>(*key());
    } else {
      return static_cast<const KeyEntry&>(entry).text == key_bytes_;
    }
  }
  std::uint64_t key_hash_in_hand() {
    if constexpr (by_value) {
      return key_hash(*key());
    } else {
      take_bytes_in_hand();
      return hash_bytes(key_bytes_.data(), key_bytes_.size());
    }
  }
  // Leaves text, or canonical bytes, in key_bytes_.
  void take_bytes_in_hand() {
    if constexpr (by_text) {
      key_bytes_ = *key();
    } else {
      ByteWriter out(key_space_, true);
      Codec<K>::encode(*key(), out);
      key_bytes_ = out.view();
    }
  }
  std::string_view bytes_in_hand() const {
    if constexpr (by_value) {
      return {reinterpret_cast<const char*>(key()), sizeof(K)};
    } else {
      return key_bytes_;
    }
  }

  Entry& make_entry(void* place) override {
    auto& entry = *new (place) KeyEntry();
    if constexpr (by_value) {
      entry.number = static_cast<std::uint64_t>(*key());
    } else {
      entry.hash = hash_;
      entry.text = key_bytes_;
      if constexpr (!by_text) entry.key = *key();
    }
    return entry;
  }
  void destroy_entry(Entry& entry) override { std::destroy_at(static_cast<KeyEntry*>(&entry)); }

  void take_in_hand(const Entry& entry) override {
    if constexpr (by_value) {
      own_key_ = static_cast<K>(static_cast<const KeyEntry&>(entry).number);
      key_ = &own_key_;
    } else if constexpr (std::is_same_v<K, std::string_view>) {
      own_key_ = static_cast<const KeyEntry&>(entry).text;
      key_ = &own_key_;
    } else if constexpr (by_text) {
      key_ = &static_cast<const KeyEntry&>(entry).text;
    } else {
      key_ = &static_cast<const KeyEntry&>(entry).key;
    }
  }
  void take_in_hand(std::string_view ordered) override {
    decoded_key_ = OrderedKey<OwnedKey>::key(ordered);
    take_decoded_key();
  }
  bool take_missing(std::uint64_t hash, std::string_view bytes) override {
    hash_ = hash;
    looked_up_ = true;
    if constexpr (by_value) {
      std::memcpy(&own_key_, bytes.data(), sizeof(K));
      key_ = &own_key_;
    } else {
      key_bytes_ = bytes;
      if constexpr (std::is_same_v<K, std::string_view>) {
        own_key_ = bytes;
        key_ = &own_key_;
      } else {
        if constexpr (by_text) {
          decoded_key_ = bytes;
        } else {
          ByteReader in(bytes);
          HUMMER_ASSERT(Codec<K>::decode(in, decoded_key_));
        }
        key_ = &decoded_key_;
      }
    }
    return find_slot(hash) == EntryIndex::none;
  }
  std::string key_type() const override { return Codec<OwnedKey>::name(); }
  void encode_key(const Entry& entry, ByteWriter& out) const override {
    if constexpr (by_value) {
      Codec<K>::encode(static_cast<K>(static_cast<const KeyEntry&>(entry).number), out);
    } else if constexpr (by_text) {
      out.put_text(static_cast<const KeyEntry&>(entry).text);
    } else {
      Codec<K>::encode(static_cast<const KeyEntry&>(entry).key, out);
    }
  }
  bool decode_key(ByteReader& in, const OperatorContext& context, bool& is_owned) override {
    decoded_key_ = OwnedKey{};
    if (!Codec<OwnedKey>::decode(in, decoded_key_)) return false;
    is_owned = context.owns_key(decoded_key_);
    return true;
  }
  void take_decoded_key() override {
    if constexpr (std::is_same_v<K, std::string_view>) {
      own_key_ = decoded_key_;
      set_key(own_key_);
    } else {
      set_key(decoded_key_);
    }
  }

  K own_key_{};             // of a timer's entry
  OwnedKey decoded_key_{};  // that comes from a snapshot or the disk
  std::uint64_t hash_ = 0;  // of what was looked up last
  std::string_view key_bytes_;
  std::string key_space_;
  std::uint64_t expected_at_ = 0;  // removals
};

}  // namespace hummer
