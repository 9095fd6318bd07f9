// SpilledSlices: what the tables of a window's slices (slice_tables.hpp) hold beyond their
// share of memory, on disk.
//
// One store for all slices: a run holds whole tables, slice behind slice, each in order of its
// keys' hashes. (To the store the slice is the hash, and the key's hash the front of the key.) So
// one slice is read without the others, a slice that is done with needs no work, and the number of
// open files does not grow with that of slices. A slice may be put there again and again: all that
// it has there and its table are merged when it is read.
//
// Lifecycle: open() with the operator's context, once or more, before anything else. Thread: that
// of the operator. Errors: those of the disk, with the operator's name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/state/spilled_entries.hpp>

namespace hummer {

class SpilledSlices {
 public:
  // `aggregate` outlives it.
  explicit SpilledSlices(const ErasedAggregate& aggregate) : aggregate_(&aggregate) {
    options_.combine = combine_with(aggregate);
  }
  void open(OperatorContext& context) { context_ = &context; }
  const SpilledCombine& combine() const { return options_.combine; }

  bool empty() const { return slices_.empty(); }
  // Those that have something here, with how many entries were put here for each.
  const std::map<Timestamp, std::uint64_t>& slices() const { return slices_; }
  std::size_t memory_bytes() const { return store_ == nullptr ? 0 : store_->memory_bytes(); }

  // Between two batches; see SpilledStore. `entries`: that tables hold.
  Status advance(std::size_t entries);
  // These tables, in order of their slices and none of them empty, become one run in the
  // background. `entries`: that others hold.
  using Tables = std::vector<std::pair<Timestamp, std::shared_ptr<const AccumulatorTableBase>>>;
  void leave(Tables tables, std::size_t entries);
  bool leaving() const { return store_ != nullptr && store_->leaving(); }
  std::size_t leaving_bytes() const { return store_ == nullptr ? 0 : store_->leaving_bytes(); }
  Status finish_leaving() { return store_ == nullptr ? Status() : store_->finish_leaving(); }

  // What the slice, one of slices(), has here, in order of hash and key. Reads so much at a time.
  std::unique_ptr<SpilledScan> scan(Timestamp slice, std::size_t read_bytes_at_once);

  // Adds what the slice, one of slices(), has of a key here to an accumulator; false: nothing.
  // Reads some blocks per run. `key`: as a table has its bytes.
  Result<bool> merge_into(void* accumulator, bool is_new, Timestamp slice, std::string_view key,
                          const KeyCodec& keys);

  // Slices that begin before that are done with; none of them comes again.
  void drop_before(Timestamp slice);
  // Takes all that the other one has.
  void absorb(SpilledSlices& other);

 private:
  Status read_into(void* accumulator, bool is_new, std::string_view value) const;
  void make_store();

  const ErasedAggregate* aggregate_;
  OperatorContext* context_ = nullptr;
  SpilledStoreOptions options_;
  std::unique_ptr<SpilledStore> store_;  // null: nothing has ever been on disk
  std::map<Timestamp, std::uint64_t> slices_;
  std::size_t entries_left_ = 0;  // in tables, when the last ones left
  std::string key_;
  std::string key_space_;
};

}  // namespace hummer
