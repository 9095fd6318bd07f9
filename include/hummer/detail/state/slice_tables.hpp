// SliceTables<K, A>: the state of windows, cut into slices of time: one table of
// accumulators by key for each slice that has records.
//
// Tables of slices that are done are cleared and serve again, so that a window
// costs no allocation; one that is far too large for what it held last is given
// back, since clearing and scanning cost its capacity.
//
// Snapshots go in steps, table by table (freeze, write_frozen). A table that is done with while one
// is under way is kept until it is written. A piece lists the slices that there are, then sections:
// 1, slice, entries with their end; 0. In a delta a section says what has changed of its slice; in
// a whole piece several may be of one slice, of which all count together.
//
// Thread: one. Cost: O(log slices) per call, plus that of the tables.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/accumulator_table.hpp>

namespace hummer {

// A store of empty tables.
template <typename K, typename A>
class SpareTables {
 public:
  using Table = AccumulatorTable<K, A>;

  std::unique_ptr<Table> take() {
    if (spare_.empty()) return std::make_unique<Table>();
    std::unique_ptr<Table> table = std::move(spare_.back());
    spare_.pop_back();
    return table;
  }
  // One with at least twice as much memory, or null.
  std::unique_ptr<Table> take_larger(std::size_t bytes) {
    std::unique_ptr<Table>* largest = nullptr;
    for (std::unique_ptr<Table>& table : spare_) {
      if (table->memory_bytes() < 2 * bytes || table->memory_bytes() == 0) continue;
      if (largest == nullptr || table->memory_bytes() > (*largest)->memory_bytes()) {
        largest = &table;
      }
    }
    if (largest == nullptr) return nullptr;
    std::swap(*largest, spare_.back());
    return take();
  }
  void release() { spare_.clear(); }
  void release_but_largest() {
    if (spare_.empty()) return;
    std::unique_ptr<Table> largest =
        std::move(*std::max_element(spare_.begin(), spare_.end(), [](const auto& a, const auto& b) {
          return a->memory_bytes() < b->memory_bytes();
        }));
    spare_.clear();
    spare_.push_back(std::move(largest));
  }
  std::size_t memory_bytes() const {
    std::size_t bytes = 0;
    for (const auto& table : spare_) bytes += table->memory_bytes();
    return bytes;
  }
  void give_back(std::unique_ptr<Table> table) {
    if (table->memory_bytes() > small_bytes &&
        table->memory_bytes() / bytes_per_entry_max > table->size()) {
      return;
    }
    table->clear();
    spare_.push_back(std::move(table));
  }

 private:
  static constexpr std::size_t small_bytes = 1 << 20;
  static constexpr std::size_t bytes_per_entry_max = 512;
  std::vector<std::unique_ptr<Table>> spare_;
};

template <typename K, typename A, typename Aggregate>
void merge_tables(AccumulatorTable<K, A>& to, const AccumulatorTable<K, A>& from,
                  const Aggregate& aggregate);

template <typename K, typename A>
class SliceTables {
 public:
  using Table = AccumulatorTable<K, A>;
  using Slices = std::map<Timestamp, std::unique_ptr<Table>>;

  bool empty() const { return slices_.empty(); }
  // By where they begin, in order.
  const Slices& all() const { return slices_; }
  SpareTables<K, A>& spare() { return spare_; }
  std::size_t memory_bytes() const {
    std::size_t bytes = spare_.memory_bytes();
    for (const auto& slice : slices_) bytes += slice.second->memory_bytes();
    return bytes;
  }
  // What is kept beside that until the snapshot under way has it.
  std::size_t parting_bytes() const {
    std::size_t bytes = 0;
    for (const auto& each : parting_) bytes += each.second->memory_bytes();
    return bytes;
  }
  // Whether a batch more might take a table and all of them beyond `limit_bytes`, or has.
  bool at_limit(std::size_t limit_bytes) const {
    const std::size_t all = memory_bytes();
    if (all > limit_bytes) return true;
    for (const auto& [slice, table] : slices_) {
      if (table->at_limit(limit_bytes - (all - table->memory_bytes()))) return true;
    }
    return false;
  }
  // Gives back what no slice uses.
  void release_unused() {
    spare_.release();
    for (auto& [slice, table] : slices_) {
      if (table->empty() && !table->frozen()) *table = Table();
    }
  }

  // The table of the slice; a new one is empty.
  Table& at(Timestamp slice) {
    std::unique_ptr<Table>& table = slices_[slice];
    if (!table) table = spare_.take();
    return *table;
  }
  // The same, before `more` entries come. Where it would grow and a larger spare one is there, it
  // moves: so the few records that come ahead of the watermark do not make the next slice grow a
  // table of its own, and windows with many keys need one large table instead of two.
  template <typename Aggregate>
  Table& at(Timestamp slice, std::size_t more, const Aggregate& aggregate) {
    Table& table = at(slice);
    if (table.has_room_for(more)) return table;
    std::unique_ptr<Table> larger = spare_.take_larger(table.memory_bytes());
    if (!larger) return table;
    merge_tables(*larger, table, aggregate);
    std::unique_ptr<Table>& held = slices_[slice];
    std::swap(held, larger);
    retire(slice, std::move(larger));
    return *held;
  }
  // The first slice that begins at `time` or later.
  typename Slices::const_iterator from(Timestamp time) const { return slices_.lower_bound(time); }

  void drop_first() {
    retire(slices_.begin()->first, std::move(slices_.begin()->second));
    slices_.erase(slices_.begin());
  }
  // What the slice's table held is elsewhere now; it goes on with an empty one. The next snapshot
  // is whole.
  void start_again(Timestamp slice) {
    std::unique_ptr<Table>& table = slices_[slice];
    retire(slice, std::exchange(table, std::make_unique<Table>()));
    was_frozen_ = false;
  }

  // ---- snapshot ----

  // As AccumulatorTable's; writes the list of slices to `out`.
  bool freeze(bool may_be_delta, ByteWriter& out) {
    const bool delta = may_be_delta && was_frozen_;
    was_frozen_ = true;
    parting_.clear();
    writing_ = nullptr;
    out.put_value(static_cast<std::uint32_t>(slices_.size()));
    for (const auto& [slice, table] : slices_) {
      out.put_value(slice);
      table->freeze(delta);
    }
    return delta;
  }
  // True: that was all but the end of the sections, which the caller writes.
  bool write_frozen(ByteWriter& out, std::size_t until_bytes) {
    while (out.size() < until_bytes) {
      if (writing_ == nullptr && !next_section(out)) return true;
      if (!writing_->write_frozen(out, until_bytes)) return false;
      out.put_value(Table::end_of_entries);
      std::erase_if(parting_, [&](const auto& each) { return each.second.get() == writing_; });
      writing_ = nullptr;
    }
    return false;
  }

  enum Section : std::uint8_t { end_of_sections, section_follows };
  // The next snapshot is whole.
  void forget_snapshot() { was_frozen_ = false; }

  // Takes the entries whose keys `owns(key)`; false: not valid. `delta`: of the same subtask as the
  // piece before. merge_restored() once behind the last piece. make_room() → bool comes now and
  // then, and may merge_restored() and put elsewhere what there is, where no delta comes.
  template <typename Owns, typename Aggregate, typename MakeRoom>
  [[nodiscard]] bool restore(ByteReader& in, bool delta, Owns&& owns, const Aggregate& aggregate,
                             MakeRoom&& make_room) {
    if (!delta) merge_restored(aggregate);
    std::set<Timestamp> present;
    std::uint32_t slices = 0;
    if (!in.get_value(slices)) return false;
    for (std::uint32_t i = 0; i < slices; ++i) {
      Timestamp slice = 0;
      if (!in.get_value(slice)) return false;
      present.insert(slice);
    }
    std::erase_if(restoring_, [&](const auto& each) { return !present.contains(each.first); });
    for (;;) {
      std::uint8_t mark = 0;
      Timestamp slice = 0;
      if (!in.get_value(mark) || mark > section_follows) return false;
      if (mark == end_of_sections) return true;
      if (!in.get_value(slice)) return false;
      for (auto restored = Table::Restored::some; restored == Table::Restored::some;) {
        std::unique_ptr<Table>& table = restoring_[slice];
        if (!table) table = std::make_unique<Table>();
        restored = table->restore(in, owns, [&](A& accumulator, bool is_new, const A& other) {
          if (delta) {
            accumulator = other;
          } else {
            aggregate.merge(accumulator, is_new, other);
          }
        });
        if (restored == Table::Restored::not_valid) return false;
        if (table->empty()) restoring_.erase(slice);
        if (!make_room()) return false;
      }
    }
  }
  template <typename Aggregate>
  void merge_restored(const Aggregate& aggregate) {
    for (auto& [slice, table] : restoring_) {
      std::unique_ptr<Table>& held = slices_[slice];
      if (!held) {
        held = std::move(table);
      } else {
        merge_tables(*held, *table, aggregate);
      }
    }
    restoring_.clear();
  }

 private:
  void retire(Timestamp slice, std::unique_ptr<Table> table) {
    if (table->frozen()) {
      parting_.emplace_back(slice, std::move(table));
    } else {
      spare_.give_back(std::move(table));
    }
  }
  bool next_section(ByteWriter& out) {
    const auto begin = [&](Timestamp slice, Table& table) {
      out.put_value(section_follows);
      out.put_value(slice);
      writing_ = &table;
    };
    if (!parting_.empty()) {
      begin(parting_.front().first, *parting_.front().second);
      return true;
    }
    for (const auto& [slice, table] : slices_) {
      if (!table->frozen()) continue;
      begin(slice, *table);
      return true;
    }
    return false;
  }

  Slices slices_;
  SpareTables<K, A> spare_;
  bool was_frozen_ = false;
  // Done with before they were written.
  std::vector<std::pair<Timestamp, std::unique_ptr<Table>>> parting_;
  Table* writing_ = nullptr;  // its section has begun
  Slices restoring_;          // of one subtask
};

// Adds all of `from` to `to`, in groups, so that misses of the caches overlap.
template <typename K, typename A, typename Aggregate>
void merge_tables(AccumulatorTable<K, A>& to, const AccumulatorTable<K, A>& from,
                  const Aggregate& aggregate) {
  constexpr std::size_t group = 256;
  std::array<K, group> keys;
  std::array<const A*, group> values;
  std::size_t count = 0;
  const auto hand_on = [&] {
    HUMMER_ASSERT(count <= group);
    to.update(
        count, [&](std::size_t i) -> const K& { return keys[i]; },
        [&](A& accumulator, bool is_new, std::size_t i) {
          aggregate.merge(accumulator, is_new, *values[i]);
        });
    count = 0;
  };
  from.scan(0, [&](const K& key, const A& value) {
    keys[count] = key;
    values[count] = &value;
    if (++count == group) hand_on();
    return true;
  });
  if (count > 0) hand_on();
}

}  // namespace hummer
