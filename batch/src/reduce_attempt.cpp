#include "reduce_attempt.hpp"

#include <memory>

#include <hummer/batch/group_reader.hpp>

#include "guarded_call.hpp"
#include "map_attempt.hpp"
#include "shown_key.hpp"

namespace hummer::batch {

Result<std::span<const RecordView>> ReduceInput::next() {
  if (context_.is_stopping()) return job_stopped();
  auto records = stream_.next();
  if (records.ok()) records_ += records->size();
  return records;
}

Result<std::uint64_t> reduce_groups(const Factory<Reducer>& make_reducer, TaskContext& context,
                                    RecordStream& input, KeyOrder group_order,
                                    RecordOutput& output) {
  GroupReader groups(input, group_order);
  std::unique_ptr<Reducer> reducer;
  HUMMER_TRY(call_guarded("the reducer", [&] {
    reducer = make_reducer();
    return reducer->open(context);
  }));
  const Status status =
      call_guarded("the reducer", [&] { return reducer->reduce(groups, output); });
  HUMMER_TRY(Status(output.status()));
  HUMMER_TRY(Status(groups.status()));
  if (!status.ok()) {
    return groups.groups() == 0 ? status : status.with_context("key " + shown_key(groups.key()));
  }
  HUMMER_TRY(call_guarded("the reducer", [&] { return reducer->close(output); }));
  output.flush();
  HUMMER_TRY(Status(output.status()));
  return groups.groups();
}

}  // namespace hummer::batch
