// SpilledAccumulators<K, A>: what an AccumulatorTable holds beyond its share of memory, on disk.
//
//   deltas(merge)   The table is what was folded since the last put(). Keys are never looked up:
//                   what the disk has of a key and what the table has are merged when all is read,
//                   and when runs are merged. The hot path of an aggregate stays as it is.
//   values()        A key is either in the table, which counts, or on disk. Before a batch is
//                   folded its keys are fetched.
//
// put() writes the whole table as one run, in order of its keys' hashes.
//
// Lifecycle: open() with the operator's context, before restore. Thread: that of the operator.
// Errors: those of the disk, with the operator's name.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <hummer/detail/state/spilled_entries.hpp>

namespace hummer {

template <typename K, typename A>
class SpilledAccumulators {
 public:
  using Table = AccumulatorTable<K, A>;
  using Scan = AccumulatorScan<K, A>;

  // Exactly one of the two, once or more. merge(A& older, const A& newer).
  template <typename Merge>
  void open_deltas(OperatorContext& context, Merge merge) {
    context_ = &context;
    options_.combine = combine_with<A>(std::move(merge));
  }
  void open_values(OperatorContext& context) { context_ = &context; }

  bool empty() const { return store_ == nullptr || store_->empty(); }
  // Whether there has ever been anything.
  bool used() const { return store_ != nullptr; }
  std::size_t memory_bytes() const { return store_ == nullptr ? 0 : store_->memory_bytes(); }
  void clear() {
    if (store_ != nullptr) store_->clear();
  }

  // Everything in the table, which may be cleared then.
  Status put(const Table& table) {
    if (table.empty()) return {};
    if (store_ == nullptr) store_ = make_spilled_store(*context_, options_);
    HUMMER_TRY(store_->begin_run(table.size()));
    TableInHashOrder<K, A> scan(table);
    while (scan.advance()) HUMMER_TRY(store_->add(scan.entry()));
    return store_->finish_run();
  }

  // values: the keys key_of(0…count) come into the table where only the disk has them.
  template <typename KeyOf>
  Status fetch(Table& table, std::size_t count, KeyOf&& key_of) {
    for (std::size_t i = 0; i < count; ++i) {
      const K& key = key_of(i);
      if (table.find(key) != nullptr) continue;
      ByteWriter bytes(key_space_, true);
      Codec<K>::encode(key, bytes);
      const Result<bool> found = store_->find(key_hash(key), bytes.view(), value_space_);
      if (!found.ok()) return found.status();
      if (!*found) continue;
      A value{};
      if (!decode_accumulator(value_space_, value)) return Scan::undecodable();
      *table.find_or_add(key).first = std::move(value);
    }
    return {};
  }

  // Reads everything in order of hash and key.
  Scan scan() { return Scan(store_->scan()); }
  // For a snapshot; entries are bytes of keys and accumulators, which their codecs read.
  SpilledStore::Frozen freeze(bool may_be_delta) { return store_->freeze(may_be_delta); }

 private:
  OperatorContext* context_ = nullptr;
  SpilledStoreOptions options_;
  std::unique_ptr<SpilledStore> store_;  // null: nothing has ever been on disk
  std::string key_space_;
  std::string value_space_;
};

}  // namespace hummer
