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
// A job with a folder has it instead of combiner and reducer, and its output is in no order.
// Records of a mapper are folded in a hash table; when that is full, what is in it is emitted, and
// it begins anew. A reduce task folds what was emitted for its partition, and emits that again,
// once per key: so what it emits must be what it folds. Where the last result has another form,
// finish() (of a StateFolder finish_state) gives it.
//
// States are plain memory (no destructor is called), at addresses of which only alignment to 8 is
// promised, and they may move. A new state is made by init().
//
// Everything is called by the span of records; StateFolder has the loops.
//
// Keys that have no room in the memory of a reduce task go to disks, and are sorted. Errors: as
// those of a mapper; limit_exceeded, a key that is larger than the table.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include <hummer/batch/record_output.hpp>
#include <hummer/batch/record_stream.hpp>
#include <hummer/batch/task_context.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

class Folder {
 public:
  // A key and its state.
  struct Entry {
    std::string_view key;
    void* state;
  };

  virtual ~Folder() = default;
  virtual Status open(TaskContext& /*context*/) { return Status(); }
  virtual std::size_t state_bytes() const = 0;
  // New states.
  virtual void init(std::span<void* const> states) = 0;
  // Each record into the state at its place; several may be the same.
  virtual Status fold(std::span<const RecordView> records, std::span<void* const> states) = 0;
  // What a reduce task can fold again.
  virtual Status emit(std::span<const Entry> entries, RecordOutput& output) = 0;
  // The results.
  virtual Status finish(std::span<const Entry> entries, RecordOutput& output) {
    return emit(entries, output);
  }
};

template <typename Self, typename State>
class StateFolder : public Folder {
  static_assert(std::is_trivially_copyable_v<State> && alignof(State) <= 8,
                "the state of a folder is plain memory: numbers, and structs of them");

 public:
  std::size_t state_bytes() const final { return sizeof(State); }
  void init(std::span<void* const> states) final {
    for (void* state : states) new (state) State();
  }
  Status fold(std::span<const RecordView> records, std::span<void* const> states) final {
    for (std::size_t i = 0; i < records.size(); ++i) {
      self().fold_record(*static_cast<State*>(states[i]), records[i]);
    }
    return Status();
  }
  Status emit(std::span<const Entry> entries, RecordOutput& output) final {
    for (const Entry& entry : entries) {
      self().emit_state(entry.key, *static_cast<const State*>(entry.state), output);
    }
    return output.status();
  }
  Status finish(std::span<const Entry> entries, RecordOutput& output) final {
    if constexpr (requires(Self& folder, const State& state) {
                    folder.finish_state(std::string_view(), state, output);
                  }) {
      for (const Entry& entry : entries) {
        self().finish_state(entry.key, *static_cast<const State*>(entry.state), output);
      }
      return output.status();
    } else {
      return emit(entries, output);
    }
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace hummer::batch
