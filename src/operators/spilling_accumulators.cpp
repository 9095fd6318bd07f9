#include <hummer/detail/operators/spilling_accumulators.hpp>

#include <algorithm>

#include <hummer/detail/connector_context.hpp>

#include "operators/leaving_room.hpp"

namespace hummer {
namespace {

constexpr std::uint8_t table_snapshot_version = 2;
constexpr std::uint8_t runs_snapshot_version = 3;  // of runs alone, as earlier versions wrote
constexpr std::uint8_t layers_snapshot_version = 4;
constexpr std::size_t restored_at_once_bytes = 64 << 10;
constexpr std::uint32_t parts_of_own_groups = 32;
constexpr std::size_t cleared_at_once_bytes = 256 << 10;

}  // namespace

SpillingAccumulatorsBase::SpillingAccumulatorsBase(const ErasedAggregate& aggregate)
    : table_(aggregate.make_table()), aggregate_(aggregate), spilled_(aggregate) {}
SpillingAccumulatorsBase::~SpillingAccumulatorsBase() = default;

void SpillingAccumulatorsBase::open(OperatorContext& context, bool deltas) {
  context_ = &context;
  memory_.open(context.memory(), true);
  deltas_ = deltas;
  if (deltas) {
    spilled_.open_deltas(context);
  } else {
    spilled_.open_values(context);
  }
}

Status SpillingAccumulatorsBase::keep_within_share(std::size_t beside, std::size_t of_entries) {
  HUMMER_TRY(spilled_.advance(table_->size()));
  // What leaves is written before the next one is full: else that waits.
  while (is_too_large(full_bytes(beside), of_entries)) {
    if (!spilled_.leaving()) {
      let_table_go(std::exchange(of_entries, 0));
      break;
    }
    HUMMER_TRY(spilled_.finish_leaving());
  }
  const std::size_t bytes = table_->memory_bytes() + of_entries + beside + spilled_.memory_bytes() +
                            parting_bytes() + entries_.memory_bytes();
  clear_left_table(bytes);
  return memory_.set(bytes + left_bytes());
}

bool SpillingAccumulatorsBase::is_too_large(std::size_t full, std::size_t of_entries) const {
  if (table_->empty()) return false;
  full -= std::min(full, of_entries);
  return table_->at_limit(full) || table_->memory_bytes() > full;
}

// What leaves has the other half.
std::size_t SpillingAccumulatorsBase::full_bytes(std::size_t beside) const {
  const std::size_t share = memory_.share_bytes();
  return bytes_when_full(spilled_, share - std::min(share, beside), parting_bytes(), 2);
}

void SpillingAccumulatorsBase::let_table_go(std::size_t of_entries) {
  const std::shared_ptr<AccumulatorTableBase> table = std::exchange(table_, next_table());
  if (table->frozen()) {
    table->rest();
    parting_ = table;
  }
  left_ = table;
  left_of_entries_ = of_entries;
  spilled_.leave(table, of_entries);
  if (parting_ != nullptr) connector_context(*context_).hurry_snapshot();
}

std::shared_ptr<AccumulatorTableBase> SpillingAccumulatorsBase::next_table() {
  const bool is_ready = left_.use_count() == 1 && left_->empty();
  return is_ready ? std::move(left_) : std::shared_ptr(aggregate_.make_table());
}

// Once it is written, and in no snapshot: some with each batch, so that none of them waits for it.
// There may be no room for it any more, beside these bytes.
void SpillingAccumulatorsBase::clear_left_table(std::size_t beside) {
  if (left_.use_count() != 1) return;
  if (beside + left_bytes() > memory_.share_bytes()) {
    left_.reset();
  } else if (left_->clear_some(cleared_at_once_bytes)) {
    left_of_entries_ = 0;
  }
}

std::unique_ptr<SpilledScan> SpillingAccumulatorsBase::scan_all() {
  if (!table_->empty()) let_table_go(0);
  return spilled_.scan();
}

void SpillingAccumulatorsBase::retire() {
  retired_ = std::exchange(table_, aggregate_.make_table());
  spilled_.clear();
}

Status SpillingAccumulatorsBase::undecodable() const {
  return {ErrorCode::corrupt_record,
          "the state of operator '" + context_->name() + "' cannot be decoded"};
}

// ---- snapshot ----

Status SpillingAccumulatorsBase::snapshot(ByteWriter& out) {
  blocks_.reset();
  parting_.reset();
  entries_.begin(context_);
  bool delta = context_->may_write_delta();
  if (spilled_.used()) {
    SpilledStore::Frozen frozen = spilled_.freeze(delta);
    delta = frozen.delta;
    blocks_ = std::move(frozen.blocks);
  }
  // One that went to disk since the last snapshot, and began anew, is none.
  const bool table_delta = table_->freeze(delta);
  writes_table_ = true;
  if (blocks_ == nullptr) delta = table_delta;
  if (delta) context_->wrote_delta();
  out.put_value(blocks_ == nullptr ? table_snapshot_version : layers_snapshot_version);
  out.put_value(static_cast<std::uint8_t>(delta));
  if (blocks_ != nullptr) out.put_value(static_cast<std::uint8_t>(table_delta));
  return {};
}

OperatorResult SpillingAccumulatorsBase::snapshot_rest(ByteWriter& out) {
  if (!writes_table_) return write_runs(out);
  const std::size_t step_bytes = context_->snapshot_step_bytes();
  entries_.begin_step();
  if (!frozen_table().write_frozen(entries_, out, step_bytes) || !entries_.flush(out, step_bytes)) {
    return OperatorResult::more;
  }
  out.put_value(AccumulatorTableBase::end_of_entries);
  writes_table_ = false;
  parting_.reset();
  return blocks_ == nullptr ? OperatorResult::done : OperatorResult::more;
}

// Runs are in order of hash, and so of key groups: those of neighbouring groups become one block of
// the piece.
OperatorResult SpillingAccumulatorsBase::write_runs(ByteWriter& out) {
  const auto parts = static_cast<std::uint32_t>(context_->parallelism()) * parts_of_own_groups;
  const auto most_groups = static_cast<std::uint32_t>(context_->key_groups()) / parts;
  KeyGroupBlock noted;
  const auto note = [&] {
    if (noted.begin < noted.end) connector_context(*context_).note_block(noted);
  };
  while (out.size() < context_->snapshot_step_bytes()) {
    const Result<bool> prepared = blocks_->prepare();
    if (!prepared.ok()) return context_->fail(prepared.status());
    if (!*prepared) break;
    const Result<std::string_view> block = blocks_->next();
    if (!block.ok()) return context_->fail(block.status());
    if (block->empty()) {
      note();
      blocks_.reset();
      out.put_text({});
      return OperatorResult::done;
    }
    const KeyGroups groups = groups_of(*block);
    KeyGroups both = noted.groups;
    both.add(groups);
    if (noted.begin == noted.end || both.last - both.first > most_groups) {
      note();
      noted = {out.size(), 0, groups};
    } else {
      noted.groups = both;
    }
    out.put_text(*block);
    noted.end = out.size();
  }
  note();
  return OperatorResult::more;
}

KeyGroups SpillingAccumulatorsBase::groups_of(std::string_view block) const {
  const auto groups = static_cast<std::uint32_t>(context_->key_groups());
  KeyGroups found = KeyGroups::none();
  for (std::size_t at = 0; at < block.size();) {
    SpilledEntry entry;
    HUMMER_ASSERT(read_spilled_entry(block, at, entry));
    const std::uint32_t group = key_group(entry.hash, groups);
    found.add({group, group});
  }
  return found;
}

// While state is read nobody waits for records: what leaves has left at once, as parts of a piece
// may be larger than what there is room for.
Status SpillingAccumulatorsBase::make_room(std::size_t beside) {
  HUMMER_TRY(keep_within_share(beside));
  if (!spilled_.leaving()) return {};
  HUMMER_TRY(spilled_.finish_leaving());
  return keep_within_share(beside);
}

Status SpillingAccumulatorsBase::restore(ByteReader& in) {
  std::uint8_t version = 0;
  std::uint8_t delta = 0;
  if (!in.get_value(version) || !in.get_value(delta)) return undecodable();
  switch (version) {
    case table_snapshot_version: return restore_table(in, delta != 0);
    case runs_snapshot_version: return restore_runs(in);
    case layers_snapshot_version: break;
    default: return undecodable();
  }
  HUMMER_TRY(restore_newest(in));
  HUMMER_TRY(restore_runs(in));
  return context_->delta_follows() ? Status() : take_newest();
}

Status SpillingAccumulatorsBase::restore_table(ByteReader& in, bool delta) {
  using Restored = AccumulatorTableBase::Restored;
  const OwnsKey owns = owned_by(*context_);
  for (;;) {
    const Restored restored = table_->restore(in, owns, aggregate_, delta);
    if (restored == Restored::not_valid) return undecodable();
    // A delta replaces what came before it, which must be at hand then.
    const bool replaces = delta && restored == Restored::some;
    if (!replaces && !context_->delta_follows() && limited()) HUMMER_TRY(make_room(0));
    if (restored == Restored::all) return {};
  }
}

Status SpillingAccumulatorsBase::restore_newest(ByteReader& in) {
  using Restored = AccumulatorTableBase::Restored;
  std::uint8_t delta = 0;
  if (!in.get_value(delta) || (delta != 0 && newest_ == nullptr)) return undecodable();
  if (delta == 0) newest_ = aggregate_.make_table();
  const OwnsKey owns = owned_by(*context_);
  for (;;) {
    const Restored restored = newest_->restore(in, owns, aggregate_, delta != 0);
    if (restored == Restored::not_valid) return undecodable();
    if (restored == Restored::all) return {};
  }
}

// A delta goes over what came before it as later runs go over earlier ones, wherever that is.
Status SpillingAccumulatorsBase::restore_runs(ByteReader& in) {
  const OwnsKey owns = owned_by(*context_);
  const std::size_t beside = newest_ != nullptr ? newest_->memory_bytes() : 0;
  std::size_t bytes = 0;  // since the table was looked at
  for (std::string_view block; in.get_text(block); in.let_go()) {
    if (block.empty()) return limited() ? make_room(beside) : Status();
    for (std::size_t at = 0; at < block.size();) {
      SpilledEntry entry;
      if (!read_spilled_entry(block, at, entry) || entry.removed ||
          !restore_entry(entry, owns, ByteReader(entry.value, in))) {
        return undecodable();
      }
    }
    bytes += block.size();
    if (!limited() || bytes < restored_at_once_bytes) continue;
    bytes = 0;
    HUMMER_TRY(make_room(beside));
  }
  return undecodable();
}

Status SpillingAccumulatorsBase::take_newest() {
  const OwnsKey owns = owned_by(*context_);
  const std::size_t beside = newest_->memory_bytes();
  TableInHashOrder entries(*newest_);
  std::size_t bytes = 0;  // since the table was looked at
  while (entries.advance()) {
    const SpilledEntry& entry = entries.entry();
    if (!restore_entry(entry, owns, ByteReader(entry.value))) return undecodable();
    bytes += entry.key.size() + entry.value.size();
    if (!limited() || bytes < restored_at_once_bytes) continue;
    bytes = 0;
    HUMMER_TRY(make_room(beside));
  }
  newest_.reset();
  return limited() ? make_room(0) : Status();
}

bool SpillingAccumulatorsBase::restore_entry(const SpilledEntry& entry, const OwnsKey& owns,
                                             ByteReader value) {
  std::string space;
  std::string_view key;
  ByteReader key_bytes(entry.key);
  if (!table_->keys().read(key_bytes, space, key)) return false;
  void* accumulator = nullptr;
  bool is_new = false;
  if (owns(table_->keys().hash_of(key))) {
    std::tie(accumulator, is_new) = table_->find_or_add_accumulator(key);
  }
  return aggregate_.read(value, accumulator, is_new, !deltas_) && value.left() == 0;
}

}  // namespace hummer
