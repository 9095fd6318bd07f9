// Reducer: makes records of groups of records with equal keys.
//
//   class SumReducer final : public GroupedReducer<SumReducer> {
//    public:
//     Status reduce_group(GroupReader& group, RecordOutput& output) {
//       std::uint64_t sum = 0;
//       while (group.next_value()) sum += number_of(group.value());
//       output.emit(group.key(), text_of(sum));
//       return Status();
//     }
//   };
//
// Order of calls: open, reduce once for each partition, close. Each task has a reducer of its own.
// A reducer walks through the groups itself (hummer/batch/group_reader.hpp); GroupedReducer is for
// those who want one at a time, and has the loop.
//
// Groups come in the order of their keys. Values of a group come in no certain order, unless the
// job sorts by more than it groups by.
//
// Errors: a failed Status, an exception of any kind, or a failure of the groups fails the task,
// which says at which key that was.
//
// Thread: one at a time.
#pragma once

#include <type_traits>

#include <hummer/batch/group_reader.hpp>
#include <hummer/batch/record_output.hpp>
#include <hummer/batch/task_context.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

class Reducer {
 public:
  virtual ~Reducer() = default;
  virtual Status open(TaskContext& /*context*/) { return Status(); }
  virtual Status reduce(GroupReader& groups, RecordOutput& output) = 0;
  virtual Status close(RecordOutput& /*output*/) { return Status(); }
};

// reduce_group returns nothing, or a Status.
template <typename Self>
class GroupedReducer : public Reducer {
 public:
  Status reduce(GroupReader& groups, RecordOutput& output) final {
    Self& self = static_cast<Self&>(*this);
    for (;;) {
      auto more = groups.next_group();
      if (!more.ok()) return more.status();
      if (!*more || !output.status().ok()) return output.status();
      using Returned = decltype(self.reduce_group(groups, output));
      if constexpr (std::is_void_v<Returned>) {
        self.reduce_group(groups, output);
      } else {
        HUMMER_TRY(self.reduce_group(groups, output));
      }
    }
  }
};

// Hands on what comes, sorted.
class IdentityReducer final : public Reducer {
 public:
  Status reduce(GroupReader& groups, RecordOutput& output) override {
    for (;;) {
      auto more = groups.next_group();
      if (!more.ok()) return more.status();
      if (!*more || !output.status().ok()) return output.status();
      while (groups.next_value()) output.emit(groups.record().key(), groups.value());
    }
  }
};

}  // namespace hummer::batch
