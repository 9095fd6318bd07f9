// Folder: folds values of equal keys into a state of a fixed size, without sorting.
//
//   struct Sum { std::uint64_t value; };
//   class SumFolder final : public StateFolder<SumFolder, Sum> {
//    public:
//     void fold_record(Sum& sum, const RecordView& record) {
//       sum.value += number_of(record.value());
//     }
//     void emit_state(std::string_view key, const Sum& sum, RecordOutput& output) {
//       output.emit(key, bytes_of(sum.value));
//     }
//   };
//
// Records of a mapper are folded in a hash table; when that is full, what is in it is emitted, and
// it begins anew. What becomes of it then is for the job to say:
//
//   with a reducer     it is sorted, and the reducer gets it by groups of equal keys, as from a
//                      combiner that needs no sorting
//   without            nothing is sorted, and the output is in no order: a reduce task folds what
//                      was emitted for its partition, and emits that again, once per key
//
// So what it emits must be what it folds. Where the last result has another form, finish_state
// gives it, which is called where there is no reducer.
//
// States are plain memory (no destructor is called), and they may move between two calls. A new
// state is State(). Records of one key are folded in their order, those of different keys in any.
//
// StateFolder makes a table that knows the state's type, so fold_record is compiled into its loop.
//
// Keys that have no room in the memory of a reduce task go to disks, and are sorted. Errors: as
// those of a mapper; limit_exceeded, a key that is larger than the table.
//
// Thread: one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include <hummer/batch/record_output.hpp>
#include <hummer/batch/record_stream.hpp>
#include <hummer/batch/task_context.hpp>
#include <hummer/detail/state/text_table.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

// States by key, in memory of a fixed size.
class FoldTable {
 public:
  virtual ~FoldTable() = default;
  // Folds the records into the states of their keys, from the first on: how many. Fewer than all:
  // it is full, and the next one's key is new; it is to be emitted and cleared. It is empty then:
  // the key is larger than all of its memory.
  virtual std::size_t fold(std::span<const RecordView> records) = 0;
  // The same of records that have these keys, and all this value.
  virtual std::size_t fold_keys(std::span<const std::string_view> keys, std::string_view value) = 0;
  virtual std::size_t size() const = 0;
  // What a reduce task can fold again, of all keys.
  virtual void emit(RecordOutput& output) = 0;
  // The results.
  virtual void finish(RecordOutput& output) = 0;
  virtual void clear() = 0;
};

class Folder {
 public:
  virtual ~Folder() = default;
  virtual Status open(TaskContext& /*context*/) { return Status(); }
  // The folder outlives the table.
  virtual std::unique_ptr<FoldTable> make_table(std::size_t memory_bytes) = 0;
};

template <typename Self, typename State>
class StateTable final : public FoldTable {
 public:
  StateTable(Self& folder, std::size_t memory_bytes)
      : folder_(folder), memory_bytes_(memory_bytes) {}

  std::size_t fold(std::span<const RecordView> records) override {
    std::array<std::string_view, group_records> keys;
    for (std::size_t folded = 0; folded < records.size();) {
      const auto rest =
          records.subspan(folded).first(std::min(records.size() - folded, group_records));
      for (std::size_t i = 0; i < rest.size(); ++i) keys[i] = rest[i].key();
      const std::size_t count =
          fold_group(std::span(keys).first(rest.size()), [rest](std::size_t i) { return rest[i]; });
      if (count == 0) return folded;
      folded += count;
    }
    return records.size();
  }

  std::size_t fold_keys(std::span<const std::string_view> keys, std::string_view value) override {
    for (std::size_t folded = 0; folded < keys.size();) {
      const auto rest = keys.subspan(folded).first(std::min(keys.size() - folded, group_records));
      const std::size_t count = fold_group(rest, [rest, value](std::size_t i) {
        return RecordView{rest[i].data(), value.data(), static_cast<std::uint32_t>(rest[i].size()),
                          static_cast<std::uint32_t>(value.size())};
      });
      if (count == 0) return folded;
      folded += count;
    }
    return keys.size();
  }

  std::size_t size() const override { return table_.size(); }

  void emit(RecordOutput& output) override {
    scan([&](std::string_view key, const State& state) { folder_.emit_state(key, state, output); },
         output);
  }
  void finish(RecordOutput& output) override {
    if constexpr (requires(const State& state) {
                    folder_.finish_state(std::string_view(), state, output);
                  }) {
      scan([&](std::string_view key,
               const State& state) { folder_.finish_state(key, state, output); },
           output);
    } else {
      emit(output);
    }
  }

  void clear() override { table_.clear(); }

 private:
  static constexpr std::size_t group_records = TextKeys::capacity;
  static constexpr std::size_t longest_flat_key = 32;  // longer ones have memory of their own

  // Folds as many of the records, from the first on, as have room whatever their keys are: how
  // many; 0: it is full, and the first one's key is new.
  template <typename RecordOf>
  std::size_t fold_group(std::span<const std::string_view> keys, RecordOf record_of) {
    const std::size_t count = with_room(keys);
    if (count == 0) {
      if (keys.front().size() > RecordOutput::most_text_bytes ||
          table_.find(keys.front()) == nullptr)
        return 0;
      folder_.fold_record(*table_.find_or_add(keys.front()).first, record_of(0));
      return 1;
    }
    // By value, so that the loop has what it needs one load away.
    table_.update_views(keys.first(count),
                        [&folder = folder_, record_of](State& state, bool is_new, std::size_t i) {
                          if (is_new) state = State();
                          folder.fold_record(state, record_of(i));
                        });
    return count;
  }

  std::size_t with_room(std::span<const std::string_view> keys) const {
    std::size_t longest = 0;  // or more: lengths are put together bit by bit
    for (const std::string_view key : keys) longest |= key.size();
    std::size_t count = keys.size();
    for (; count > 0; count /= 2) {
      std::size_t long_bytes = 0;
      for (std::size_t i = 0; longest > longest_flat_key && i < count; ++i) {
        long_bytes += keys[i].size() > longest_flat_key ? keys[i].size() : 0;
      }
      if (long_bytes > std::min(memory_bytes_, RecordOutput::most_text_bytes)) continue;
      if (table_.empty() || !table_.at_limit(memory_bytes_ - long_bytes)) break;
    }
    return count;
  }

  template <typename Visit>
  void scan(Visit&& visit, const RecordOutput& output) const {
    table_.scan(0, [&](std::string_view key, const State& state) {
      visit(key, state);
      return output.status().ok();
    });
  }

  Self& folder_;
  const std::size_t memory_bytes_;
  TextTable<State> table_;
};

template <typename Self, typename State>
class StateFolder : public Folder {
  static_assert(std::is_trivially_copyable_v<State> && alignof(State) <= 8,
                "the state of a folder is plain memory: numbers, and structs of them");

 public:
  std::unique_ptr<FoldTable> make_table(std::size_t memory_bytes) final {
    return std::make_unique<StateTable<Self, State>>(static_cast<Self&>(*this), memory_bytes);
  }
};

}  // namespace hummer::batch
