// SpilledAccumulators: what an AccumulatorTable holds beyond its share of memory, on disk.
//
//   deltas          The table is what was folded since the last put(). Keys are never looked up:
//                   what the disk has of a key and what the table has are merged when all is read,
//                   and when runs are merged. The hot path of an aggregate stays as it is.
//   values          A key is either in the table, which counts, or on disk. Before a batch is
//                   folded its keys are fetched.
//
// leave() lets go of a whole table: in the background it becomes a run, in order of its keys'
// hashes.
//
// Lifecycle: open() with the operator's context, before restore. Thread: that of the operator.
// Errors: those of the disk, with the operator's name.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <hummer/detail/state/spilled_entries.hpp>

namespace hummer {

class SpilledAccumulators {
 public:
  // `aggregate` outlives it.
  explicit SpilledAccumulators(const ErasedAggregate& aggregate) : aggregate_(aggregate) {}

  // Exactly one of the two, once or more.
  void open_deltas(OperatorContext& context);
  void open_values(OperatorContext& context);

  bool empty() const { return store_ == nullptr || store_->empty(); }
  // Whether there has ever been anything.
  bool used() const { return store_ != nullptr; }
  std::size_t memory_bytes() const { return store_ == nullptr ? 0 : store_->memory_bytes(); }
  void clear() {
    if (store_ != nullptr) store_->clear();
  }

  // Between two batches; see SpilledStore. `entries`: those of the table that took the place of the
  // last one that left.
  Status advance(std::size_t entries);
  // The table is changed no more, until it is written. `of_entries`: bytes that its accumulators
  // hold beside themselves. REQUIRES: it is not empty.
  void leave(std::shared_ptr<const AccumulatorTableBase> table, std::size_t of_entries);
  bool leaving() const { return store_ != nullptr && store_->leaving(); }
  std::size_t leaving_bytes() const { return store_ == nullptr ? 0 : store_->leaving_bytes(); }
  Status finish_leaving() { return store_->finish_leaving(); }

  // values: the key, as the table has its bytes, comes into the table where only the disk has it.
  Status fetch(AccumulatorTableBase& table, std::string_view key);

  // Reads everything in order of hash and key.
  std::unique_ptr<SpilledScan> scan() { return store_->scan(); }
  // For a snapshot; entries are bytes of keys and accumulators, which their codecs read.
  SpilledStore::Frozen freeze(bool may_be_delta) { return store_->freeze(may_be_delta); }

 private:
  const ErasedAggregate& aggregate_;
  OperatorContext* context_ = nullptr;
  SpilledStoreOptions options_;
  std::unique_ptr<SpilledStore> store_;  // null: nothing has ever been on disk
  std::string key_space_;
  std::string value_space_;
};

}  // namespace hummer
