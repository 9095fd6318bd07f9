#include "tasks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "batch/merger.hpp"
#include "folded_output.hpp"
#include "guarded_call.hpp"
#include "map_attempt.hpp"
#include "part_output.hpp"
#include "reduce_attempt.hpp"

namespace hummer::batch {
namespace {

void count_framework(TaskContext& context, std::string_view name, std::uint64_t amount) {
  context.counters().counter(framework_counters, name).add(amount);
}

Result<std::unique_ptr<RecordReader>> open_split_reader(const JobRun& run,
                                                        const InputSplit& split) {
  auto input = open_split(run.platform.files(), split);
  if (!input.ok()) return input.status();
  return open_reader(run.job.input_format, std::move(*input));
}

// All of a split.
Status map_split(const JobRun& run, const InputSplit& split, TaskContext& context,
                 MapOutput& output) {
  auto reader = open_split_reader(run, split);
  if (!reader.ok()) return reader.status();
  MapAttempt attempt(context);
  HUMMER_TRY(attempt.open(std::move(*reader), run.job.mapper));
  for (;;) {
    const auto more = attempt.map_span(output);
    if (!more.ok()) return more.status();
    if (!*more) break;
  }
  HUMMER_TRY(attempt.close(output));
  count_framework(context, "Map input records", attempt.records());
  context.counters().counter(input_counters, "Bytes Read").add(attempt.reader().bytes_read());
  return Status();
}

Status map_into_collection(JobRun& run, const InputSplit& split, TaskContext& context,
                           MapCollection& collection) {
  CountedOutput output(collection.output());
  HUMMER_TRY(map_split(run, split, context, output));
  count_framework(context, "Map output records", output.records());
  count_framework(context, "Map output bytes", output.bytes());
  return Status();
}

Status map_into_part(JobRun& run, const InputSplit& split, TaskContext& context) {
  PartOutput part(run);
  HUMMER_TRY(part.open(context));
  HUMMER_TRY(map_split(run, split, context, part.output()));
  HUMMER_TRY(part.close(context));
  count_framework(context, "Map output records", part.output().records());
  count_framework(context, "Map output bytes", part.output().bytes());
  return Status();
}

Status reduce_by_groups(JobRun& run, TaskContext& context, RecordStream& input,
                        RecordOutput& output) {
  const auto groups =
      reduce_groups([&run] { return run.make_reducer(); }, context, input,
                    run.job.has_group_order ? run.job.group_order : run.job.sort_order, output);
  if (!groups.ok()) return groups.status();
  count_framework(context, "Reduce input groups", *groups);
  return Status();
}

Status fold_all(RecordStream& input, FoldedOutput& folded) {
  for (;;) {
    auto records = input.next();
    if (!records.ok()) return records.status();
    if (records->empty()) return Status();
    folded.emit_all(*records);
    HUMMER_TRY(Status(folded.status()));
  }
}

// Keys that do not fit into the table go through a sort: then a full table has complete keys alone.
Status reduce_by_folding(JobRun& run, TaskContext& context, RecordStream& input,
                         RecordOutput& output) {
  const std::size_t table_bytes = run.memory_per_thread() / 2;
  std::unique_ptr<Folder> folder;
  HUMMER_TRY(call_guarded("the folder", [&] {
    folder = run.job.folder();
    return folder->open(context);
  }));
  SortedOutput overflow(run.platform,
                        {.memory_bytes = std::max(run.memory_per_thread() - table_bytes,
                                                  OutputCollector::least_memory_bytes),
                         .order = KeyOrder(),
                         .codec = run.codec,
                         .spill_directory = run.spill_directory});
  std::uint64_t keys = 0;
  {
    FoldedOutput folded(*folder, FoldedOutput::Form::partial, table_bytes, overflow);
    HUMMER_TRY(fold_all(input, folded));
    if (folded.was_full()) {
      HUMMER_TRY(folded.end());
    } else {
      HUMMER_TRY(folded.end(FoldedOutput::Form::final, output));
      keys = folded.entries();
    }
  }
  auto streams = overflow.streams();
  if (!streams.ok()) return streams.status();
  if (!streams->empty()) {
    Merger merger(KeyOrder(), std::move(*streams));
    FoldedOutput folded(*folder, FoldedOutput::Form::final, table_bytes, output);
    HUMMER_TRY(fold_all(merger, folded));
    HUMMER_TRY(folded.end());
    keys = folded.entries();
  }
  count_framework(context, "Reduce input groups", keys);
  return Status();
}

Status reduce(JobRun& run, TaskContext& context,
              std::vector<std::unique_ptr<RecordStream>> streams) {
  Merger merger(run.order(), std::move(streams));
  ReduceInput input(merger, context);
  PartOutput part(run);
  HUMMER_TRY(part.open(context));
  HUMMER_TRY(run.reduces_by_folding() ? reduce_by_folding(run, context, input, part.output())
                                      : reduce_by_groups(run, context, input, part.output()));
  HUMMER_TRY(part.close(context));
  count_framework(context, "Reduce input records", input.records());
  count_framework(context, "Reduce output records", part.output().records());
  return Status();
}

}  // namespace

Status named_by_task(const TaskContext& context, const Status& status) {
  if (status.ok() || status.code() == ErrorCode::cancelled) return status;
  const Status named = status.with_context(fmt::format(
      "{} task {}", context.kind() == TaskContext::Kind::map ? "map" : "reduce", context.number()));
  // The job has begun, so it is the class that is wrong, and not how it was asked for.
  if (status.code() != ErrorCode::invalid_argument) return named;
  return Status(ErrorCode::user_function_failed, named.message());
}

Status run_map_task(JobRun& run, const InputSplit& split, TaskContext& context,
                    MapCollection* collection) {
  context.set_input(split.input, split.path);
  return named_by_task(context, collection == nullptr
                                    ? map_into_part(run, split, context)
                                    : map_into_collection(run, split, context, *collection));
}

Status run_reduce_task(JobRun& run, TaskContext& context,
                       std::vector<std::unique_ptr<RecordStream>> streams) {
  return named_by_task(context, reduce(run, context, std::move(streams)));
}

}  // namespace hummer::batch
