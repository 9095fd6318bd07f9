#include <hummer/detail/operators/spilling_slices.hpp>

#include <algorithm>
#include <iterator>

#include <hummer/detail/connector_context.hpp>

#include "operators/leaving_room.hpp"

namespace hummer {
namespace {

constexpr std::size_t read_bytes_of_all = std::size_t{1} << 20;
constexpr std::size_t most_read_bytes = std::size_t{64} << 10;
constexpr std::size_t least_read_bytes = std::size_t{4} << 10;
// What a scan reads in about the time that a key's look-up takes.
constexpr std::uint64_t entries_per_look_up = 256;

}  // namespace

void SpillingSlices::drop_first() {
  const Timestamp slice = tables_.all().begin()->first;
  tables_.drop_first();
  spilled_.drop_before(time_after(slice, 1));
}

void SpillingSlices::absorb(SpillingSlices& other) {
  for (const auto& [slice, table] : other.tables_.all()) {
    aggregate_->merge_tables(tables_.at(slice, table->size()), *table);
  }
  spilled_.absorb(other.spilled_);
}

Status SpillingSlices::keep_within(std::size_t room) {
  // To count them takes a look at each table.
  HUMMER_TRY(spilled_.advance(spilled_.leaving() ? tables_.entries() : 0));
  std::size_t full = full_bytes(room);
  tables_.clear_left(full);
  if (!tables_.at_limit(full)) return {};
  // Tables that went are kept until they are written.
  if (tables_.parting_bytes() > 0) connector_context(*context_).hurry_snapshot();
  tables_.release_unused();
  // What leaves is written before what is left is full: else that waits.
  if (spilled_.leaving() && tables_.at_limit(full)) {
    HUMMER_TRY(spilled_.finish_leaving());
    full = full_bytes(room);
  }
  if (tables_.at_limit(full)) spill(full / 2);
  return {};
}

std::size_t SpillingSlices::full_bytes(std::size_t room) const {
  return bytes_when_full(spilled_, room, tables_.parting_bytes(), 3);
}

Status SpillingSlices::spill_all() {
  spill(0);
  tables_.release_unused();
  return spilled_.finish_leaving();
}

bool SpillingSlices::has_spilled(Timestamp start, Timestamp end) const {
  const auto slice = spilled_.slices().lower_bound(start);
  return slice != spilled_.slices().end() && slice->first < end;
}

bool SpillingSlices::scan_is_cheaper(Timestamp start, Timestamp end, std::size_t keys) const {
  std::uint64_t entries = 0;
  std::uint64_t look_ups = 0;
  for (auto slice = spilled_.slices().lower_bound(start);
       slice != spilled_.slices().end() && slice->first < end; ++slice) {
    entries += slice->second;
    look_ups += keys;
  }
  return entries < look_ups * entries_per_look_up;
}

Status SpillingSlices::add_up(std::string_view key, Timestamp start, Timestamp end, void* total) {
  bool is_new = true;
  for (auto slice = tables_.from(start); slice != tables_.all().end() && slice->first < end;
       ++slice) {
    const Table& table = *slice->second;
    if (!spilled_.empty() && spilled_.slices().contains(slice->first)) {
      const Result<bool> found =
          spilled_.merge_into(total, is_new, slice->first, key, table.keys());
      if (!found.ok()) return found.status();
      if (*found) is_new = false;
    }
    if (const void* const part = table.find(key)) {
      aggregate_->merge(total, std::exchange(is_new, false), table, part);
    }
  }
  return {};
}

std::unique_ptr<SpilledScan> SpillingSlices::scan(Timestamp start, Timestamp end) {
  const auto first = tables_.from(start);
  const auto behind = tables_.from(end);
  const std::size_t read_bytes =
      std::clamp(read_bytes_of_all / static_cast<std::size_t>(std::distance(first, behind) + 1),
                 least_read_bytes, most_read_bytes);
  std::vector<std::unique_ptr<SpilledScan>> scans;
  for (auto slice = first; slice != behind; ++slice) {
    if (spilled_.slices().contains(slice->first)) {
      scans.push_back(spilled_.scan(slice->first, read_bytes));
    }
    if (!slice->second->empty()) {
      scans.push_back(std::make_unique<TableInHashOrder>(std::as_const(*slice->second)));
    }
  }
  return merge_scans(std::move(scans), spilled_.combine());
}

bool SpillingSlices::freeze(bool may_be_delta, ByteWriter& out) {
  writing_.clear();
  entries_.begin(context_);
  const bool delta = tables_.freeze(may_be_delta && spilled_.empty(), out);
  if (spilled_.empty()) return delta;
  tables_.forget_snapshot();
  for (const auto& [slice, entries] : spilled_.slices()) {
    writing_.push_back({slice, spilled_.scan(slice, most_read_bytes), false});
  }
  std::reverse(writing_.begin(), writing_.end());
  return delta;
}

Result<bool> SpillingSlices::write_frozen(ByteWriter& out, std::size_t until_bytes) {
  entries_.begin_step();
  if (!tables_.write_frozen(entries_, out, until_bytes)) return false;
  while (!writing_.empty()) {
    Section& section = writing_.back();
    if (!section.begun) {
      SliceTables::begin_section(section.slice, entries_);
      section.begun = true;
    }
    for (;;) {
      if (entries_.enough(out, until_bytes)) return false;
      const Result<bool> prepared = section.scan->prepare();
      if (!prepared.ok()) return prepared;
      if (!*prepared && until_bytes != SIZE_MAX) return false;
      const Result<bool> found = section.scan->next();
      if (!found.ok()) return found;
      if (!*found) break;
      const SpilledEntry& entry = section.scan->entry();
      entries_.add(entry.hash, out, [&](ByteWriter& to) {
        to.put_value(Table::entry_follows);
        to.put(entry.key.data(), entry.key.size());
        to.put(entry.value.data(), entry.value.size());
      });
    }
    writing_.pop_back();
  }
  if (!entries_.flush(out, until_bytes)) return false;
  out.put_value(SliceTables::end_of_sections);
  return true;
}

Status SpillingSlices::write_whole(ByteWriter& out) {
  freeze(false, out);
  const Result<bool> written = write_frozen(out, SIZE_MAX);
  HUMMER_ASSERT(!written.ok() || *written);
  return written.status();
}

// The largest tables, until the others hold no more than this.
void SpillingSlices::spill(std::size_t left_bytes) {
  std::vector<std::pair<Timestamp, std::size_t>> tables;  // with their bytes
  std::size_t bytes = 0;
  for (const auto& [slice, table] : tables_.all()) {
    if (table->empty()) continue;
    tables.emplace_back(slice, table->memory_bytes());
    bytes += tables.back().second;
  }
  std::sort(tables.begin(), tables.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  std::size_t count = 0;
  while (count < tables.size() && (count == 0 || bytes > left_bytes)) {
    bytes -= tables[count++].second;
  }
  if (count == 0) return;
  tables.resize(count);
  std::sort(tables.begin(), tables.end());
  SpilledSlices::Tables leaving;
  for (const auto& each : tables) leaving.emplace_back(each.first, tables_.let_go(each.first));
  spilled_.leave(std::move(leaving), tables_.entries());
}

}  // namespace hummer
