#include <hummer/detail/state/keyed_spill.hpp>

#include <algorithm>
#include <utility>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/state/keyed_store.hpp>

#include "state/sort_by_hash.hpp"

namespace hummer {
namespace {

constexpr std::size_t keys_per_look = 64;
constexpr std::size_t parts_of_entries = 4;      // one of them goes at once
constexpr std::size_t most_at_once = 64 << 10;   // entries that go at once: some 30 milliseconds
constexpr std::size_t expected_ahead = 8;        // entries that are on their way
constexpr std::size_t keys_before_look = 8192;   // come between two looks, about
constexpr std::size_t entries_looked_at = 8192;  // in a step of a snapshot
constexpr std::size_t parts_of_snapshot = 8;     // between two looks at what it lets go

// Looking ahead costs each record a look-up: so many may be for one that is fetched.
constexpr std::size_t most_records_per_fetch = 32;
constexpr std::size_t records_between_choices = 16384;
// One entry in so many may be of what is ahead. Those that are brought at once take a part of a
// millisecond.
constexpr std::size_t parts_ahead = 4;
constexpr std::size_t most_keys_ahead = 48 << 10;
constexpr std::size_t least_keys_ahead = 16;
constexpr std::size_t keys_fetched_at_once = 128;
constexpr std::size_t most_records_ahead = 1 << 20;
// From so much between two keys on each costs a read of its own.
constexpr std::uint64_t most_bytes_per_key = 8 << 10;
constexpr std::size_t parts_of_batches_ahead = 24;  // of the share: batches that are shown at once

}  // namespace

void KeyedSpill::open(OperatorContext& context) {
  context_ = &context;
  memory_.open(context.memory(), true);
  limited_ = memory_.limited();
  for (SpilledTimers& each : wakes_) each.open(context);
  heap_states_.clear();
  for (KeyedState* state : store_.states_) {
    if (state->uses_heap()) heap_states_.push_back(state);
  }
  counts_heap_ = limited_ && !heap_states_.empty();
}

void KeyedSpill::count_heap(StoreEntry& entry) {
  if (store_.parts_.heap_bytes == 0) return;
  std::size_t bytes = 0;
  for (const KeyedState* state : heap_states_) bytes += state->heap_bytes(entry);
  if (!store_.keys_.by_value()) bytes += store_.keys_.bytes(entry).size();
  const auto counted = static_cast<std::uint32_t>(std::min<std::size_t>(bytes, UINT32_MAX));
  heap_bytes_ += counted;
  heap_bytes_ -= std::exchange(store_.parts_.heap_bytes_of(entry), counted);
}

void KeyedSpill::forget_heap(StoreEntry& entry) {
  if (store_.parts_.heap_bytes != 0) heap_bytes_ -= store_.parts_.heap_bytes_of(entry);
}

Status KeyedSpill::keep_within_share(std::size_t coming) {
  if (spilled_ != nullptr) HUMMER_TRY(spilled_->advance());
  const std::size_t share = memory_.share_bytes();
  const std::size_t soon = std::max(std::min(store_.size() / 4, keys_before_look), coming);
  const std::size_t growth = store_.index_.growth_bytes(soon);
  const std::size_t needed = needed_bytes(share) + coming * store_.slabs_.block_bytes();
  if (needed + growth > share && store_.frozen_) connector_context(*context_).hurry_snapshot();
  if (needed + growth > share && (!store_.frozen_ || snapshot_lets_some_go())) {
    const std::size_t too_much = needed < share ? 0 : needed - share;
    const std::size_t part =
        std::min(entries_bytes() / parts_of_entries, most_at_once * store_.slabs_.block_bytes());
    HUMMER_TRY(put_on_disk(std::max(part, too_much),
                           held_bytes() > share ? Choice::whole_slabs : Choice::untouched));
    const std::size_t held = held_bytes();
    if (held > share) store_.slabs_.release_empty(held - share);
  }
  return memory_.set(held_bytes());
}

void KeyedSpill::expect(const ExpectedEntries& keys, std::size_t count) {
  if (reach_.none() && (looked_up_ += count) >= records_between_choices) {
    choose_reach(std::exchange(looked_up_, 0), std::exchange(fetched_, 0));
  }
  std::array<std::uint64_t, ExpectedEntries::most> missing;
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    missing[found] = keys.hashes[i];
    found += keys.entry(i) == nullptr ? 1 : 0;
  }
  spilled_->expect({missing.data(), found});
}

void KeyedSpill::choose_reach(std::size_t records, std::size_t fetched) {
  reach_ = {};
  if (fetched == 0 || fetched * most_records_per_fetch < records) return;
  keys_ahead_ = std::min(store_.size() / parts_ahead, most_keys_ahead);
  if (keys_ahead_ < least_keys_ahead || spilled_->disk_bytes() > keys_ahead_ * most_bytes_per_key) {
    return;
  }
  reach_ = {.records = std::min(keys_ahead_ * records / fetched, most_records_ahead),
            .bytes = memory_.share_bytes() / parts_of_batches_ahead};
}

void KeyedSpill::begin_fetch(MissingKeys& keys, std::size_t records) {
  looked_up_ = records;
  keys.sort();
}

Result<bool> KeyedSpill::fetch_some(const MissingKeys& keys) {
  if (spilled_ == nullptr) return true;
  const std::size_t first = fetched_until_;
  const std::size_t count = std::min(keys.size() - first, keys_fetched_at_once);
  if (count > 0) HUMMER_TRY(keep_within_share(count));
  const std::size_t share = memory_.share_bytes();
  // While a snapshot keeps entries in memory there may be no room: keys are looked up one by one.
  const bool has_room = needed_bytes(share) + count * store_.slabs_.block_bytes() <= share;
  if (count > 0 && has_room) {
    fetched_until_ += count;
    for (std::size_t i = first; i < fetched_until_; ++i) store_.index_.expect(keys.hash(i));
    const auto found = [&](std::size_t key, std::string_view value) {
      bring_back_ahead(keys.hash(key), keys.bytes(key), value);
    };
    HUMMER_TRY(spilled_->find_all(keys, first, fetched_until_, found));
    if (fetched_until_ < keys.size()) return false;
  }
  fetched_until_ = 0;
  if (looked_up_ > 0) choose_reach(std::exchange(looked_up_, 0), std::exchange(fetched_, 0));
  return true;
}

void KeyedSpill::bring_back_ahead(std::uint64_t hash, std::string_view key,
                                  std::string_view value) {
  if (!store_.take_missing(hash, key)) return;  // a timer has brought it since
  StoreEntry& entry = bring_back(hash, value);
  entry.touched = entry.is_ahead = true;
  if (counts_heap_) count_heap(entry);
  ++fetched_;
}

StoreEntry* KeyedSpill::fetch(std::uint64_t hash, std::string_view key) {
  const Result<bool> found = spilled_->find(hash, key, value_);
  if (!found.ok()) {
    failure_ = found.status();
    throw StateUnavailable();
  }
  if (!*found) return nullptr;
  ++fetched_;
  return &bring_back(hash, value_);
}

StoreEntry& KeyedSpill::bring_back(std::uint64_t hash, std::string_view value) {
  StoreEntry& entry = store_.add(hash);
  ByteReader in(value);
  const ValueHead head = read_head(in);
  // Blocks carry checks, and what is in them was written by us.
  HUMMER_ASSERT(
      store_.decode_cells(in, KeyedStoreBase::CellForm::packed, store_.states_, &entry).ok());
  entry.on_disk = true;
  entry.is_new = false;
  entry.changed = head.changed;
  entry.unchanged = head.changed != store_.generation_;  // else changes would not be told
  return entry;
}

// `changed`, then `last` where that is not the end of time.
void KeyedSpill::write_head(const ValueHead& head, ByteWriter& out) {
  const bool ends = head.last != end_of_time;
  out.put_value(ends);
  out.put_value(head.changed);
  if (ends) out.put_value(head.last);
}

KeyedSpill::ValueHead KeyedSpill::read_head(ByteReader& in) {
  bool ends = false;
  ValueHead head{.last = end_of_time};
  HUMMER_ASSERT(in.get_value(ends) && in.get_value(head.changed) &&
                (!ends || in.get_value(head.last)));
  return head;
}

Timestamp KeyedSpill::next_wake(TimerKind kind) const {
  const SpilledTimers& wakes = wakes_of(kind);
  return wakes.empty() ? end_of_time : wakes.next().time;
}

void KeyedSpill::wake_keys(TimerKind kind, Timestamp limit) {
  SpilledTimers& wakes = wakes_of(kind);
  while (!wakes.empty() && wakes.next().time <= limit &&
         !store_.first_timer_is_before(kind, wakes.next().time, wakes.next().key)) {
    const std::string key = wakes.next().key;
    failure_ = wakes.pass();
    if (!failure_.ok()) throw StateUnavailable();
    store_.wake(key);
    if (++woken_ % keys_per_look != 0) continue;
    failure_ = keep_within_share();
    if (!failure_.ok()) throw StateUnavailable();
  }
}

bool KeyedSpill::freeze(bool may_be_delta) {
  frozen_.reset();
  scanned_ = writes_gone_ = false;
  looked_at_frozen_ = 0;
  if (spilled_ == nullptr) return may_be_delta;
  SpilledStore::FrozenEntries frozen = spilled_->freeze_entries(may_be_delta);
  frozen_ = std::move(frozen.scan);
  frozen_is_delta_ = frozen.delta;
  frozen_generation_ = store_.generation_;
  writes_gone_ = true;
  return frozen.delta;
}

Result<bool> KeyedSpill::write_frozen(ByteWriter& out, std::size_t until_bytes) {
  GroupedEntries& entries = store_.entries_;
  entries.begin_step();
  for (std::size_t seen = 0; frozen_ != nullptr && !scanned_; ++seen) {
    if (entries.enough(out, until_bytes) || seen == entries_looked_at) return false;
    const Result<bool> prepared = frozen_->prepare();
    if (!prepared.ok() || !*prepared) return prepared;
    const Result<bool> found = frozen_->next();
    if (!found.ok()) return found.status();
    if (!*found) {
      scanned_ = true;
      break;
    }
    const SpilledEntry& entry = frozen_->entry();
    if (!writes_entry(entry)) continue;
    entries.add(entry.hash, out, [&](ByteWriter& to) {
      to.put_value(entry.removed ? KeyedStoreBase::entry_is_gone : KeyedStoreBase::entry_follows);
      if (store_.keys_are_text_) {
        to.put_text(entry.key);
      } else {
        to.put(entry.key.data(), entry.key.size());
      }
      if (entry.removed) return;
      ByteReader value(entry.value);
      (void)read_head(value);
      KeyedStoreBase::unpack_cells(value, to);
    });
  }
  if (scanned_) {
    if (!entries.flush(out, until_bytes)) return false;
    frozen_.reset();
    scanned_ = false;
    store_.begin_section(out);
  }
  if (!writes_gone_) return true;
  for (; !store_.gone_on_disk_.empty(); store_.gone_on_disk_.write_chunk(entries, out)) {
    if (entries.enough(out, until_bytes)) return false;
  }
  if (!entries.flush(out, until_bytes)) return false;
  out.put_value(KeyedStoreBase::end_of_entries);
  writes_gone_ = false;
  return true;
}

// What was put on disk since the last snapshot may have been changed, and saved, before it.
bool KeyedSpill::writes_entry(const SpilledEntry& entry) const {
  if (!frozen_is_delta_ || entry.removed) return true;
  ByteReader in(entry.value);
  return read_head(in).changed == frozen_generation_;
}

bool KeyedSpill::snapshot_lets_some_go() {
  const std::size_t step = store_.slabs_.slot_count() / parts_of_snapshot;
  if (store_.next_frozen_ < looked_at_frozen_ + step) return false;
  looked_at_frozen_ = store_.next_frozen_;
  return true;
}

// What the store has had from the system.
std::size_t KeyedSpill::held_bytes() const {
  return store_.memory_bytes() + heap_bytes_ + store_.timers_.memory_bytes() + spilled_bytes() +
         wakes_[0].memory_bytes() + wakes_[1].memory_bytes() + saved_bytes() + ahead_bytes();
}

// What is in use of it, and what putting entries on disk takes: a list of those that go, and what
// the next merge will keep in memory of its run, for which a sixteenth is set aside. (One under way
// is counted as what it has. To set the same again aside for it left no room for entries once runs
// were many, and so all of them went to disk with every batch.)
std::size_t KeyedSpill::needed_bytes(std::size_t share) const {
  return entries_bytes() + store_.size() / parts_of_entries * sizeof(Chosen) +
         store_.index_.memory_bytes() + store_.timers_.memory_bytes() + spilled_bytes() +
         share / 16 + wakes_[0].memory_bytes() + wakes_[1].memory_bytes() + saved_bytes() +
         ahead_bytes();
}

// Of what was shown, of what is gathered meanwhile, and of keys.
std::size_t KeyedSpill::ahead_bytes() const {
  return 2 * reach_.bytes + store_.missing_.memory_bytes();
}

// Of snapshots, and of one that is being restored.
std::size_t KeyedSpill::saved_bytes() const {
  return store_.saved_.memory_bytes() + store_.gone_on_disk_.memory_bytes() +
         store_.gone_.memory_bytes() + store_.entries_.memory_bytes() +
         store_.emptied_.memory_bytes();
}

std::size_t KeyedSpill::entries_bytes() const {
  return store_.size() * store_.slabs_.block_bytes() + heap_bytes_;
}

Status KeyedSpill::put_on_disk(std::size_t bytes, Choice choice) {
  std::vector<Chosen> chosen = choose(bytes, choice);
  if (chosen.empty()) return {};
  const auto unchanged = std::partition(chosen.begin(), chosen.end(),
                                        [](const Chosen& one) { return !one.entry->unchanged; });
  if (unchanged != chosen.begin()) HUMMER_TRY(write_run({chosen.begin(), unchanged}));
  HUMMER_TRY(put_wakes_on_disk(chosen));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i + expected_ahead < chosen.size()) {
      const Chosen& ahead = chosen[i + expected_ahead];
      __builtin_prefetch(ahead.entry);
      store_.index_.expect(ahead.hash);
    }
    store_.remove(*chosen[i].entry, chosen[i].hash);
  }
  store_.index_.shrink();
  return {};
}

// Values: a head, then packed cells.
Status KeyedSpill::write_run(std::span<Chosen> entries) {
  sort_by_hash(
      entries, [](const Chosen& one) { return one.hash; },
      [&](const Chosen& a, const Chosen& b) {
        return a.hash != b.hash ? a.hash < b.hash
                                : store_.keys_.bytes(*a.entry) < store_.keys_.bytes(*b.entry);
      });
  if (spilled_ == nullptr) {
    spilled_ = make_spilled_store(*context_, {.combine = {},
                                              .end_of =
                                                  [](std::string_view value) {
                                                    ByteReader in(value);
                                                    return read_head(in).last;
                                                  },
                                              .now = [this] { return store_.now_ms(); },
                                              .keys_are_hashed = true});
  }
  HUMMER_TRY(spilled_->begin_run(entries.size()));
  std::string space;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i + expected_ahead < entries.size()) __builtin_prefetch(entries[i + expected_ahead].entry);
    const auto& [hash, entry] = entries[i];
    ByteWriter value(space);
    Timestamp last = store_.timers_.any(*entry) ? end_of_time : no_timestamp;
    for (const KeyedState* state : store_.states_) {
      if (state->present(*entry)) last = std::max(last, state->last_expiry(*entry));
    }
    write_head({.last = last, .changed = entry->changed}, value);
    store_.encode_cells(*entry, KeyedStoreBase::CellForm::packed, value);
    HUMMER_TRY(spilled_->add({.hash = hash,
                              .key = store_.keys_.bytes(*entry),
                              .value = value.view(),
                              .removed = entry->live == 0}));
  }
  return spilled_->finish_run();
}

Status KeyedSpill::put_wakes_on_disk(const std::vector<Chosen>& entries) {
  if (!store_.timer_kinds_.any()) return {};
  std::array<std::vector<SpilledTimers::Wake>, 2> wakes;
  for (const auto& [hash, entry] : entries) {
    if (!store_.timers_.any(*entry)) continue;
    const std::string key = store_.keys_.ordered(*entry);
    for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
      const std::optional<Timestamp> first = store_.timers_.first_of(*entry, kind);
      if (first) wakes[static_cast<std::size_t>(kind)].push_back({*first, key});
    }
  }
  for (std::size_t kind = 0; kind < wakes.size(); ++kind) {
    HUMMER_TRY(wakes_[kind].add(std::move(wakes[kind])));
  }
  return {};
}

// In the operator's: there is more in it than states and timers.
bool KeyedSpill::in_hands(const StoreEntry& entry) const {
  std::uint32_t counted = store_.timers_.any(entry) ? 1 : 0;
  for (const KeyedState* state : store_.states_) counted += state->present(entry) ? 1 : 0;
  return entry.live > counted;
}

// Where the hand is, from there on once round, or twice: the first time a touched one is passed
// over.
std::vector<KeyedSpill::Chosen> KeyedSpill::choose(std::size_t bytes, Choice choice) {
  std::vector<Chosen> chosen;
  const std::size_t slots = store_.slabs_.slot_count();
  const std::size_t way = choice == Choice::untouched ? 2 * slots : slots;
  for (std::size_t gone = 0; gone < way && bytes > 0;) {
    if (hand_ >= slots) hand_ = 0;
    const std::size_t end = std::min(slots, hand_ + (way - gone));
    auto* const entry = static_cast<StoreEntry*>(store_.slabs_.next(hand_, end));
    const std::size_t next = entry == nullptr ? end : entry->slot + 1;
    gone += next - std::exchange(hand_, next);
    if (entry == nullptr) continue;
    if (in_hands(*entry) || store_.is_pending(*entry)) continue;
    if (choice == Choice::untouched && entry->touched) {
      entry->touched = false;
      continue;
    }
    entry->touched = true;  // not twice
    const std::size_t heap =
        store_.parts_.heap_bytes == 0 ? 0 : store_.parts_.heap_bytes_of(*entry);
    bytes -= std::min(bytes, store_.slabs_.block_bytes() + heap);
    chosen.push_back({store_.keys_.hash(*entry), entry});
  }
  return chosen;
}

}  // namespace hummer
