// SpillingSlices<K, Aggregate>: the slices of a window operator, with what has no room in its share
// of memory on disk (hummer/detail/state/spilled_slices.hpp).
//
// Without a limit to memory it is the tables (hummer/detail/state/slice_tables.hpp) and nothing
// else. With one the operator calls keep_within() once per batch: the largest tables go to disk, as
// one run, until half of the room is free. A slice goes on in an empty table; its records never
// look at the disk. The largest and not the oldest, because runs should be large: what a slice that
// has been there for long gets late is little, and goes on fitting in.
//
// Where a window has something on disk, scan() merges what its slices have there and their tables,
// in order of the keys' hashes; total_of() looks one key up.
//
// Snapshots: once something is on disk they are whole; tables and what is on disk are sections of
// their own, so nothing moves for a snapshot. A table that goes to disk while one is under way
// stays in memory until it is written.
//
// Lifecycle: open() before anything else, once or more. Thread: that of the operator. Errors: those
// of the disk.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/state/slice_tables.hpp>
#include <hummer/detail/state/spilled_slices.hpp>
#include <hummer/operator.hpp>
#include <hummer/windows.hpp>

namespace hummer {

template <typename K, typename Aggregate>
class SpillingSlices {
  using Accumulator = typename Aggregate::Accumulator;
  using Cold = SpilledSlices<K, Accumulator>;

 public:
  using Tables = SliceTables<K, Accumulator>;
  using Table = typename Tables::Table;
  using Scan = AccumulatorScan<K, Accumulator>;

  void open(OperatorContext& context, const Aggregate& aggregate) {
    aggregate_ = &aggregate;
    spilled_.open(context, [&aggregate](Accumulator& older, const Accumulator& newer) {
      aggregate.merge(older, false, newer);
    });
  }

  // A slice with all that it has on disk has an empty one.
  Tables& tables() { return tables_; }
  const Tables& tables() const { return tables_; }
  bool empty() const { return tables_.empty(); }
  std::size_t memory_bytes() const {
    return tables_.memory_bytes() + tables_.parting_bytes() + spilled_.memory_bytes();
  }

  void drop_first() {
    const Timestamp slice = tables_.all().begin()->first;
    tables_.drop_first();
    spilled_.drop_before(time_after(slice, 1));
  }
  // All of the other one, too.
  void absorb(SpillingSlices& other) {
    for (const auto& [slice, table] : other.tables_.all()) {
      merge_tables(tables_.at(slice, table->size(), *aggregate_), *table, *aggregate_);
    }
    spilled_.absorb(other.spilled_);
  }

  // ---- beyond memory ----

  Status keep_within(std::size_t room) {
    room -= std::min(room, spilled_.memory_bytes());
    room -= std::min(room / 4 * 3, tables_.parting_bytes());
    if (!tables_.at_limit(room)) return {};
    tables_.release_unused();
    return tables_.at_limit(room) ? spill(room / 2) : Status();
  }
  Status spill_all() {
    HUMMER_TRY(spill(0));
    tables_.release_unused();
    return {};
  }
  // Whether some of the slices from `start` on, before `end`, have something on disk.
  bool has_spilled(Timestamp start, Timestamp end) const {
    const auto slice = spilled_.slices().lower_bound(start);
    return slice != spilled_.slices().end() && slice->first < end;
  }
  // Whether a scan of them costs less than looking so many keys up.
  bool scan_is_cheaper(Timestamp start, Timestamp end, std::size_t keys) const {
    std::uint64_t entries = 0;
    std::uint64_t look_ups = 0;
    for (auto slice = spilled_.slices().lower_bound(start);
         slice != spilled_.slices().end() && slice->first < end; ++slice) {
      entries += slice->second;
      look_ups += keys;
    }
    return entries < look_ups * entries_per_look_up;
  }
  // What these slices have of a key, from nothing.
  Status total_of(const K& key, Timestamp start, Timestamp end, Accumulator& total) {
    bool is_new = true;
    for (auto slice = tables_.from(start); slice != tables_.all().end() && slice->first < end;
         ++slice) {
      if (!spilled_.empty() && spilled_.slices().contains(slice->first)) {
        Accumulator part{};
        const Result<bool> found = spilled_.find(slice->first, key, part);
        if (!found.ok()) return found.status();
        if (*found) aggregate_->merge(total, std::exchange(is_new, false), std::as_const(part));
      }
      if (const Accumulator* const part = slice->second->find(key)) {
        aggregate_->merge(total, std::exchange(is_new, false), *part);
      }
    }
    return {};
  }
  // Every key of these slices with its total. The tables stay as they are meanwhile.
  Scan scan(Timestamp start, Timestamp end) {
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
        scans.push_back(
            std::make_unique<TableInHashOrder<K, Accumulator>>(std::as_const(*slice->second)));
      }
    }
    return Scan(merge_scans(std::move(scans), spilled_.combine()));
  }

  // ---- snapshot ----

  // As SliceTables's.
  bool freeze(bool may_be_delta, ByteWriter& out) {
    writing_.clear();
    const bool delta = tables_.freeze(may_be_delta && spilled_.empty(), out);
    if (spilled_.empty()) return delta;
    tables_.forget_snapshot();
    for (const auto& [slice, entries] : spilled_.slices()) {
      writing_.push_back({slice, spilled_.scan(slice, most_read_bytes), false});
    }
    std::reverse(writing_.begin(), writing_.end());
    return delta;
  }
  // True: that was all.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes) {
    if (!tables_.write_frozen(out, until_bytes)) return false;
    while (!writing_.empty()) {
      Section& section = writing_.back();
      if (!section.begun) {
        out.put_value(Tables::section_follows);
        out.put_value(section.slice);
        section.begun = true;
      }
      for (;;) {
        if (out.size() >= until_bytes) return false;
        const Result<bool> found = section.scan->next();
        if (!found.ok()) return found;
        if (!*found) break;
        out.put_value(Table::entry_follows);
        out.put(section.scan->entry().key.data(), section.scan->entry().key.size());
        out.put(section.scan->entry().value.data(), section.scan->entry().value.size());
      }
      out.put_value(Table::end_of_entries);
      writing_.pop_back();
    }
    out.put_value(Tables::end_of_sections);
    return true;
  }
  // All of it at once, as whole.
  Status write_whole(ByteWriter& out) {
    freeze(false, out);
    const Result<bool> written = write_frozen(out, SIZE_MAX);
    HUMMER_ASSERT(!written.ok() || *written);
    return written.status();
  }

 private:
  struct Section {
    Timestamp slice;
    std::unique_ptr<SpilledScan> scan;
    bool begun;
  };

  static constexpr std::size_t read_bytes_of_all = std::size_t{1} << 20;
  static constexpr std::size_t most_read_bytes = std::size_t{64} << 10;
  static constexpr std::size_t least_read_bytes = std::size_t{4} << 10;

  // What a scan reads in about the time that a key's look-up takes.
  static constexpr std::uint64_t entries_per_look_up = 256;

  // The largest tables, until the others hold no more than this.
  Status spill(std::size_t left_bytes) {
    std::vector<std::pair<Timestamp, const Table*>> tables;
    std::size_t bytes = 0;
    for (const auto& [slice, table] : tables_.all()) {
      if (table->empty()) continue;
      tables.emplace_back(slice, table.get());
      bytes += table->memory_bytes();
    }
    std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) {
      return a.second->memory_bytes() > b.second->memory_bytes();
    });
    std::size_t count = 0;
    while (count < tables.size() && (count == 0 || bytes > left_bytes)) {
      bytes -= tables[count++].second->memory_bytes();
    }
    tables.resize(count);
    std::sort(tables.begin(), tables.end());
    HUMMER_TRY(spilled_.put(tables));
    for (const auto& each : tables) tables_.start_again(each.first);
    tables_.spare().release_but_largest();
    return {};
  }

  const Aggregate* aggregate_ = nullptr;
  Tables tables_;
  Cold spilled_;
  std::vector<Section> writing_;  // of the snapshot under way, the first one last
};

}  // namespace hummer
