#include <hummer/detail/state/hash_table.hpp>

#include <algorithm>
#include <cstring>

#include <hummer/detail/key_hash.hpp>
#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::size_t growth_margin = 4096;
constexpr std::size_t arena_chunk_bytes = 64 * 1024;
constexpr std::uint64_t zero_key = 0;

std::uint64_t integer_of(std::string_view key) {
  std::uint64_t number;
  HUMMER_ASSERT(key.size() == sizeof number);
  std::memcpy(&number, key.data(), sizeof number);
  return number;
}
// The lower half: records were routed by the upper one.
std::uint64_t hash_long_key(std::string_view key) {
  return hash_bytes(key.data(), key.size()) << 32;
}
bool same_medium(const MediumKey& a, std::uint64_t low, std::uint64_t high) {
  return ((a.low ^ low) | (a.high ^ high)) == 0;
}
bool same_wide(const WideKey& a, const std::uint64_t* key) {
  return ((a.key[0] ^ key[0]) | (a.key[1] ^ key[1]) | (a.key[2] ^ key[2]) | (a.key[3] ^ key[3])) ==
         0;
}
bool same_long(const LongKey& a, std::string_view key, std::uint64_t hash) {
  return a.hash() == hash && !a.is_free() && a.view() == key;
}

}  // namespace

HashTable::HashTable(Keys keys, std::size_t value_bytes, std::size_t value_alignment,
                     std::size_t expected_keys, InstructionSet level)
    : keys_(keys), find_keys_(text_keys_function(level)), value_bytes_(value_bytes) {
  if (!by_text()) {
    slots_[0] = HashSlots(SlotLayout::of<IntegerKey>(value_bytes, value_alignment), expected_keys);
    return;
  }
  slots_[0] = HashSlots(SlotLayout::of<ShortKey>(value_bytes, value_alignment), expected_keys);
  slots_[1] = HashSlots(SlotLayout::of<MediumKey>(value_bytes, value_alignment), expected_keys / 8);
  slots_[2] = HashSlots(SlotLayout::of<WideKey>(value_bytes, value_alignment), expected_keys / 64);
  slots_[3] = HashSlots(SlotLayout::of<LongKey>(value_bytes, value_alignment), expected_keys / 64);
}
HashTable::HashTable(HashTable&& other) noexcept = default;
HashTable& HashTable::operator=(HashTable&& other) noexcept = default;
HashTable::~HashTable() = default;

std::size_t HashTable::size() const {
  std::size_t size = zero_.occupied ? 1 : 0;
  for (const HashSlots& each : slots()) size += each.size();
  return size;
}

std::size_t HashTable::memory_bytes() const {
  std::size_t bytes = arena_bytes_;
  for (const HashSlots& each : slots()) bytes += each.memory_bytes();
  return bytes;
}

bool HashTable::at_limit(std::size_t limit_bytes) const {
  std::size_t bytes = arena_bytes_;
  for (const HashSlots& each : slots()) bytes += each.needed_bytes(growth_margin);
  return bytes > limit_bytes;
}

bool HashTable::has_room_for(std::size_t more) const {
  return std::ranges::all_of(slots(),
                             [&](const HashSlots& each) { return each.has_room_for(more); });
}

void HashTable::make_room_for(std::size_t more) {
  for (HashSlots& each : slots()) each.reserve_for(more);
}

void HashTable::set_dense(bool dense) {
  for (HashSlots& each : slots()) each.set_dense(dense);
}

// ---- single entries ----

TextSlotsPlan HashTable::plan() const {
  const auto plan_of = [](const HashSlots& slots) {
    return SlotsPlan{slots.entries(), slots.shift(), slots.layout().entry_bytes};
  };
  return {plan_of(slots_[0]), plan_of(slots_[1]), plan_of(slots_[2])};
}

const void* HashTable::find(std::string_view key) const {
  const auto value = [&]<typename Key>(const Key*, const HashSlots& slots, std::uint64_t hash,
                                       auto&& same) -> const void* {
    if (slots.size() == 0) return nullptr;
    void* const entry = slots.probe<Key>(hash, same);
    return static_cast<const Key*>(entry)->is_free() ? nullptr : slots.value_of(entry);
  };
  if (!by_text()) {
    const std::uint64_t number = integer_of(key);
    if (number == 0) return zero_.occupied ? zero_.value.data() : nullptr;
    return value(static_cast<const IntegerKey*>(nullptr), slots_[0], IntegerKey::hash_of(number),
                 [&](const IntegerKey& other) { return other.key == number; });
  }
  if (empty()) return nullptr;
  TextKeys keys;
  find_keys_(&key, 1, plan(), keys);
  if (keys.short_count > 0) {
    const std::uint64_t wanted = keys.short_keys[0];
    return value(static_cast<const ShortKey*>(nullptr), slots_[0], hash_short_key(wanted),
                 [&](const ShortKey& other) { return other.key == wanted; });
  }
  if (keys.medium_count > 0) {
    const std::uint64_t low = keys.medium_keys[0][0];
    const std::uint64_t high = keys.medium_keys[0][1];
    return value(static_cast<const MediumKey*>(nullptr), slots_[1], hash_medium_key(low, high),
                 [&](const MediumKey& other) { return same_medium(other, low, high); });
  }
  if (keys.wide_count > 0) {
    const std::uint64_t* const wanted = keys.wide_keys[0];
    return value(static_cast<const WideKey*>(nullptr), slots_[2], hash_wide_key(wanted),
                 [&](const WideKey& other) { return same_wide(other, wanted); });
  }
  const std::uint64_t hash = hash_long_key(key);
  return value(static_cast<const LongKey*>(nullptr), slots_[3], hash,
               [&](const LongKey& other) { return same_long(other, key, hash); });
}

std::pair<void*, bool> HashTable::find_or_add(std::string_view key, const SaveReference& save) {
  return by_text() ? find_or_add_text(key, save) : find_or_add_integer(integer_of(key), save);
}

// `entry` is the key's or a free one. It is about to change.
template <typename Key, typename Fill>
std::pair<void*, bool> HashTable::found_or_added(HashSlots& slots, void* entry, Fill&& fill,
                                                 Tracking tracking, const SaveReference& save) {
  Key& key = *static_cast<Key*>(entry);
  const bool is_new = key.is_free();
  if (is_new) {
    fill(key);
    slots.count_new();
  }
  if (tracking == Tracking::changes) {
    slots.mark_at(entry);
  } else if (tracking == Tracking::snapshot && slots.changing(entry) && !is_new) {
    save(key.view(), slots.value_of(entry));
  }
  return {slots.value_of(entry), is_new};
}

void HashTable::save_before(HashSlots& slots, void* entry, bool is_new, const SaveReference& save) {
  if (!slots.changing(entry) || is_new) return;
  const std::string_view key =
      slots.layout().kind == KeyKind::integer      ? static_cast<const IntegerKey*>(entry)->view()
      : slots.layout().kind == KeyKind::short_text ? static_cast<const ShortKey*>(entry)->view()
                                                   : static_cast<const MediumKey*>(entry)->view();
  save(key, slots.value_of(entry));
}

std::pair<void*, bool> HashTable::find_or_add_integer(std::uint64_t key,
                                                      const SaveReference& save) {
  if (key == 0) return find_or_add_zero(save);
  HashSlots& slots = slots_[0];
  slots.reserve_for(1);
  const Tracking tracking = slots.tracking(1);
  void* const entry = slots.probe<IntegerKey>(
      IntegerKey::hash_of(key), [&](const IntegerKey& other) { return other.key == key; });
  return found_or_added<IntegerKey>(
      slots, entry, [&](IntegerKey& added) { added.key = key; }, tracking, save);
}

std::pair<void*, bool> HashTable::find_or_add_zero(const SaveReference& save) {
  const bool is_new = !zero_.occupied;
  if (is_new && zero_.value.data() == nullptr) zero_.value = ZeroedPages(value_bytes_);
  zero_.occupied = zero_.changed = true;
  if (std::exchange(zero_.pending, false)) {
    save({reinterpret_cast<const char*>(&zero_key), sizeof zero_key}, zero_.value.data());
  }
  return {zero_.value.data(), is_new};
}

std::pair<void*, bool> HashTable::find_or_add_text(std::string_view key,
                                                   const SaveReference& save) {
  TextKeys keys;
  take_apart(&key, 1, keys);
  if (keys.short_count > 0) {
    const std::uint64_t wanted = keys.short_keys[0];
    const Tracking tracking = slots_[0].tracking(1);
    void* const entry = slots_[0].probe<ShortKey>(
        hash_short_key(wanted), [&](const ShortKey& other) { return other.key == wanted; });
    return found_or_added<ShortKey>(
        slots_[0], entry, [&](ShortKey& added) { added.key = wanted; }, tracking, save);
  }
  if (keys.medium_count > 0) {
    const std::uint64_t low = keys.medium_keys[0][0];
    const std::uint64_t high = keys.medium_keys[0][1];
    const Tracking tracking = slots_[1].tracking(1);
    void* const entry = slots_[1].probe<MediumKey>(
        hash_medium_key(low, high),
        [&](const MediumKey& other) { return same_medium(other, low, high); });
    return found_or_added<MediumKey>(
        slots_[1], entry, [&](MediumKey& added) { added = {low, high}; }, tracking, save);
  }
  RestEntry rest;
  find_or_add_rest(&key, keys, save, &rest);
  return {rest.value, rest.is_new};
}

// ---- groups of text ----

void HashTable::take_apart(const std::string_view* views, std::size_t count, TextKeys& keys) {
  for (std::size_t kind = 0; kind < 3; ++kind) {
    if (slots_[kind].growing()) [[unlikely]]
      slots_[kind].grow_on(count);
  }
  find_keys_(views, count, plan(), keys);
  if (!slots_[0].fits(keys.short_count) || !slots_[1].fits(keys.medium_count) ||
      !slots_[2].fits(keys.wide_count)) [[unlikely]] {
    slots_[0].reserve_for(keys.short_count);
    slots_[1].reserve_for(keys.medium_count);
    slots_[2].reserve_for(keys.wide_count);
    find_keys_(views, count, plan(), keys);  // entries have moved
  }
  const auto find_places = [](const HashSlots& slots, std::uint64_t* places, std::size_t found,
                              auto&& hash_of) {
    if (!slots.growing()) [[likely]]
      return;
    const auto entries = reinterpret_cast<std::uintptr_t>(slots.entries());
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t slot = slots.home_slot(hash_of(i));
      const std::uintptr_t at = entries + slot * slots.layout().entry_bytes;
      __builtin_prefetch(reinterpret_cast<const void*>(at));
      places[i] = at << 8 | TextKeys::index_of(places[i]);
    }
  };
  find_places(slots_[0], keys.short_places, keys.short_count,
              [&](std::size_t i) { return hash_short_key(keys.short_keys[i]); });
  find_places(slots_[1], keys.medium_places, keys.medium_count, [&](std::size_t i) {
    return hash_medium_key(keys.medium_keys[i][0], keys.medium_keys[i][1]);
  });
}

// Keys beyond 16 bytes are few, or cost cache misses: what is done for each in between is little
// then, and the code is there once and not in each of the loops that are made for their `apply`.
std::size_t HashTable::find_or_add_rest(const std::string_view* views, const TextKeys& keys,
                                        const SaveReference& save, RestEntry* rest) {
  std::size_t count = 0;
  if (keys.wide_count > 0) {
    HashSlots& wides = slots_[2];
    const Tracking tracking = wides.tracking(keys.wide_count);
    for (std::size_t i = 0; i < keys.wide_count; ++i) {
      const std::uint64_t* const key = keys.wide_keys[i];
      void* const entry = wides.probe<WideKey>(
          hash_wide_key(key), [&](const WideKey& other) { return same_wide(other, key); });
      const auto [value, is_new] = found_or_added<WideKey>(
          wides, entry, [&](WideKey& added) { std::copy_n(key, 4, added.key); }, tracking, save);
      rest[count++] = {value, static_cast<std::uint32_t>(TextKeys::index_of(keys.wide_places[i])),
                       is_new};
    }
  }
  if (keys.long_count > 0) {
    HashSlots& longs = slots_[3];
    longs.reserve_for(keys.long_count);
    const Tracking tracking = longs.tracking(keys.long_count);
    std::uint64_t hashes[TextKeys::capacity];
    const auto home = [&](std::uint64_t hash) {
      return static_cast<const char*>(longs.entries()) +
             longs.home_slot(hash) * longs.layout().entry_bytes;
    };
    // What of the table they need is on its way to the caches before it is looked at.
    for (std::size_t i = 0; i < keys.long_count; ++i) {
      const std::string_view view = views[keys.long_indexes[i]];
      HUMMER_ASSERT(view.size() < UINT32_MAX);
      hashes[i] = hash_long_key(view);
      __builtin_prefetch(home(hashes[i]));
    }
    for (std::size_t i = 0; i < keys.long_count; ++i) {
      __builtin_prefetch(reinterpret_cast<const LongKey*>(home(hashes[i]))->text);
    }
    for (std::size_t i = 0; i < keys.long_count; ++i) {
      const std::uint32_t index = keys.long_indexes[i];
      const auto [value, is_new] = find_or_add_long(views[index], hashes[i], tracking, save);
      rest[count++] = {value, index, is_new};
    }
  }
  return count;
}

std::pair<void*, bool> HashTable::find_or_add_long(std::string_view view, std::uint64_t hash,
                                                   Tracking tracking, const SaveReference& save) {
  HashSlots& longs = slots_[3];
  void* const entry = longs.probe<LongKey>(
      hash, [&](const LongKey& other) { return same_long(other, view, hash); });
  return found_or_added<LongKey>(
      longs, entry,
      [&](LongKey& added) {
        added = {keep_text(view), static_cast<std::uint32_t>(view.size()),
                 static_cast<std::uint32_t>(hash >> 32)};
      },
      tracking, save);
}

const char* HashTable::keep_text(std::string_view text) {
  if (text.size() > arena_left_ || arena_next_ == nullptr) {
    arena_left_ = std::max(text.size(), arena_chunk_bytes);
    arena_.push_back(std::make_unique_for_overwrite<char[]>(arena_left_));
    arena_bytes_ += arena_left_;
    arena_next_ = arena_.back().get();
  }
  char* const at = arena_next_;
  std::copy_n(text.data(), text.size(), at);
  arena_next_ += text.size();
  arena_left_ -= text.size();
  return at;
}

// ---- scans and snapshots ----

void HashTable::read_zero(FoundEntries& found) const {
  found.entries[found.count++] = {
      {reinterpret_cast<const char*>(&zero_key), sizeof zero_key}, zero_.value.data(), 1};
}

void HashTable::read(std::size_t& cursor, FoundEntries& found) const {
  found.count = 0;
  std::size_t before = 0;
  if (!by_text()) {
    before = 1;
    if (cursor == 0 && zero_.occupied) read_zero(found);
    cursor = std::max<std::size_t>(cursor, 1);
  }
  for (const HashSlots& each : slots()) {
    if (cursor < before + each.capacity()) {
      std::size_t place = cursor - before;
      const bool finished = each.read(place, before, found);
      cursor = before + place;
      if (!finished) return;
    }
    before += each.capacity();
  }
  cursor = scan_end;
}

template <typename Visit>
auto HashTable::at_entry_before(std::size_t next, Visit&& visit) const {
  std::size_t place = next - 1;
  if (!by_text() && place-- == 0) return visit(nullptr, 0);
  const HashSlots* each = slots_.data();
  for (; place >= each->capacity(); ++each) place -= each->capacity();
  return visit(each, place);
}

FoundEntry HashTable::entry_before(std::size_t next) const {
  return at_entry_before(next, [&](const HashSlots* slots, std::size_t place) {
    if (slots != nullptr) return slots->entry_at(place);
    FoundEntries zero;
    read_zero(zero);
    return zero.entries[0];
  });
}

void HashTable::expect_entry_before(std::size_t next) const {
  at_entry_before(next, [](const HashSlots* slots, std::size_t place) {
    if (slots != nullptr) __builtin_prefetch(slots->at_cursor(place));
  });
}

bool HashTable::freeze(bool may_be_delta) {
  const bool delta = slots_[0].freeze(may_be_delta);
  for (HashSlots& each : slots().subspan(1)) HUMMER_ASSERT(each.freeze(may_be_delta) == delta);
  zero_.pending = zero_.occupied && (!delta || zero_.changed);
  zero_.changed = false;
  return delta;
}

bool HashTable::frozen() const {
  return std::ranges::any_of(slots(), [](const HashSlots& each) { return each.frozen(); });
}

HashTable::FrozenRead HashTable::read_frozen(FoundEntries& found) {
  found.count = 0;
  if (std::exchange(zero_.pending, false)) read_zero(found);
  for (HashSlots& each : slots()) {
    if (each.read_frozen(found)) continue;
    return HashSlots::has_room_for_page(found) ? FrozenRead::paused : FrozenRead::some;
  }
  return FrozenRead::all;
}

void HashTable::rest() {
  for (HashSlots& each : slots()) each.rest();
}

bool HashTable::clear_some(std::size_t bytes) {
  for (HashSlots& each : slots()) {
    if (!each.clear_some(bytes)) return false;
  }
  zero_ = {};
  arena_.clear();
  arena_next_ = nullptr;
  arena_left_ = 0;
  arena_bytes_ = 0;
  return true;
}

std::size_t HashTable::longest_probe() const {
  std::size_t longest = 0;
  for (const HashSlots& each : slots()) longest = std::max(longest, each.longest_probe());
  return longest;
}

}  // namespace hummer
