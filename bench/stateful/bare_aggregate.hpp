// AggregateRow: a value per key, and per window where there are windows; the bare loop of most
// rows.
//
// Traits, made from the run:
//   Item, Value                                   what goes to a key's owner; what is kept per key
//   bool make(std::uint64_t index, Item&) const   false: the record is filtered out
//   std::uint64_t key(const Item&) const
//   void fold(Value&, bool is_new, const Item&, Checksum&) const    also what goes out at once
//   void merge(Value&, const Value& other) const                    in local mode
//   void result(std::uint64_t key, std::int64_t start_ms, const Value&, Checksum&) const
#pragma once

#include "bare.hpp"

namespace stateful::bare {

template <typename Traits>
class AggregateRow {
  using Item = typename Traits::Item;
  using Value = typename Traits::Value;

 public:
  explicit AggregateRow(Worker<AggregateRow>& worker) : worker_(worker), traits_(worker.run()) {}

  void produce(Worker<AggregateRow>& worker) {
    const Scale& scale = worker.run().row.scale;
    const std::uint64_t per_slice = scale.window_ms > 1 ? scale.records_per_window : scale.records;
    const std::uint64_t threads = worker.threads();
    std::uint64_t index = worker.thread();
    for (std::uint64_t slice = 0; slice * per_slice < scale.records; ++slice) {
      if (slice > 0) worker.close_slice();
      const std::uint64_t end = std::min((slice + 1) * per_slice, scale.records);
      // The clock of the rounds stands between them.
      if (scale.window_ms == 1 && scale.keys < end) {
        index = make_until(worker, index, scale.keys, threads);
        if (worker.thread() == 0) worker.run().warm_at = nanoseconds();
      }
      index = make_until(worker, index, end, threads);
    }
  }
  bool take(Batch& batch) {
    tables_[batch.slice % 2].each(
        batch.items<Item>(), batch.size, [&](const Item& item) { return traits_.key(item); },
        [&](const Item& item, Value& value, bool is_new) {
          traits_.fold(value, is_new, item, sum);
        });
    return false;
  }
  void close(std::uint64_t slice) {
    Table<Value>& mine = tables_[slice % 2];
    const std::int64_t start = static_cast<std::int64_t>(slice) * worker_.run().row.scale.window_ms;
    const auto result = [&](std::uint64_t key, const Value& value) {
      traits_.result(key, start, value, sum);
    };
    if (!worker_.run().local) return mine.drain(result);
    worker_.meet();
    for (unsigned thread = 0; thread < worker_.threads(); ++thread) {
      merge_own_of(worker_.peer(thread).tables_[slice % 2]);
    }
    worker_.meet();
    mine.clear();
    merged_.drain(result);
  }
  void finish() {}

  Checksum sum;

 private:
  std::uint64_t make_until(Worker<AggregateRow>& worker, std::uint64_t index, std::uint64_t end,
                           std::uint64_t threads) {
    if (worker.alone()) {
      while (index < end) {
        const auto [items, capacity] = worker.template room<Item>();
        std::uint32_t made = 0;
        for (; made < capacity && index < end; index += threads) {
          made += traits_.make(index, items[made]) ? 1 : 0;
        }
        worker.template filled<Item>(made);
      }
      return index;
    }
    for (; index < end; index += threads) {
      Item item;
      if (traits_.make(index, item)) {
        worker.template put<Item>(worker.owner(traits_.key(item))) = item;
      }
    }
    return index;
  }
  // What this thread owns of a thread's table.
  void merge_own_of(const Table<Value>& table) {
    struct Part {
      std::uint64_t key;
      Value value;
    };
    std::vector<Part> parts;
    const auto merge_parts = [&] {
      merged_.each(
          parts.data(), parts.size(), [](const Part& part) { return part.key; },
          [&](const Part& part, Value& value, bool is_new) {
            if (is_new) {
              value = part.value;
            } else {
              traits_.merge(value, part.value);
            }
          });
      parts.clear();
    };
    // At once: keys that come in the order of their places would pile up in a table that is still
    // too small.
    merged_.make_room(table.size());
    table.scan([&](std::uint64_t key, const Value& value) {
      if (owner_of(key, worker_.threads()) != worker_.thread()) return;
      parts.push_back({key, value});
      if (parts.size() == 1'024) merge_parts();
    });
    merge_parts();
  }

  Worker<AggregateRow>& worker_;
  Traits traits_;
  Table<Value> tables_[2];
  Table<Value> merged_;  // in local mode
};

}  // namespace stateful::bare
