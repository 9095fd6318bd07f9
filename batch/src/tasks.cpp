#include "tasks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <hummer/batch/group_reader.hpp>

#include "batch/merger.hpp"
#include "folded_output.hpp"
#include "guarded_call.hpp"
#include "part_output.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t shown_key_bytes = 100;

Status job_stopped() { return Status(ErrorCode::cancelled, "the job was stopped"); }

void count_framework(TaskContext& context, std::string_view name, std::uint64_t amount) {
  context.counters().counter(framework_counters, name).add(amount);
}

// A key as a message has it: bytes that are no printable ASCII as \xNN.
std::string shown_key(std::string_view key) {
  std::string text = "'";
  for (const char c : key.substr(0, shown_key_bytes)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + (key.size() > shown_key_bytes ? "…'" : "'");
}

// Of one split.
class MapAttempt {
 public:
  MapAttempt(const JobRun& run, TaskContext& context) : run_(run), context_(context) {}

  Status open(const InputSplit& split) {
    auto input = open_split(run_.platform.files(), split);
    if (!input.ok()) return input.status();
    HUMMER_TRY(call_guarded("the reader", [&] {
      reader_ = run_.job.input_format.make_reader();
      return reader_->open(std::move(*input));
    }));
    return call_guarded("the mapper", [&] {
      mapper_ = run_.job.mapper();
      return mapper_->open(context_);
    });
  }

  Status map_all(MapOutput& output) {
    for (;;) {
      if (context_.is_stopping()) return job_stopped();
      std::span<const RecordView> records;
      HUMMER_TRY(call_guarded("the reader", [&] {
        auto read = reader_->next();
        if (read.ok()) records = *read;
        return read.status();
      }));
      if (records.empty()) break;
      records_ += records.size();
      HUMMER_TRY(map(records, output));
    }
    HUMMER_TRY(call_guarded("the mapper", [&] { return mapper_->close(output); }));
    output.flush();
    HUMMER_TRY(Status(output.status()));
    count_framework(context_, "Map input records", records_);
    context_.counters().counter(input_counters, "Bytes Read").add(reader_->bytes_read());
    return Status();
  }

 private:
  Status map(std::span<const RecordView> records, MapOutput& output) {
    const Status status = call_guarded("the mapper", [&] { return mapper_->map(records, output); });
    // What was emitted may hold views of these records no longer than the call.
    if (status.ok()) return output.status();
    const std::size_t at = mapper_->position();
    return status.with_context(reader_->place_of(records[at < records.size() ? at : 0]));
  }

  const JobRun& run_;
  TaskContext& context_;
  std::unique_ptr<RecordReader> reader_;
  std::unique_ptr<Mapper> mapper_;
  std::uint64_t records_ = 0;
};

Status map_into_collection(JobRun& run, const InputSplit& split, TaskContext& context,
                           MapCollection& collection) {
  MapAttempt attempt(run, context);
  HUMMER_TRY(attempt.open(split));
  CountedOutput output(collection.output());
  HUMMER_TRY(attempt.map_all(output));
  count_framework(context, "Map output records", output.records());
  count_framework(context, "Map output bytes", output.bytes());
  return Status();
}

Status map_into_part(JobRun& run, const InputSplit& split, TaskContext& context) {
  MapAttempt attempt(run, context);
  HUMMER_TRY(attempt.open(split));
  PartOutput part(run);
  HUMMER_TRY(part.open(context));
  HUMMER_TRY(attempt.map_all(part.output()));
  HUMMER_TRY(part.close(context));
  count_framework(context, "Map output records", part.output().records());
  count_framework(context, "Map output bytes", part.output().bytes());
  return Status();
}

// What comes from the merge, counted, and ended where the job is to stop.
class ReduceInput final : public RecordStream {
 public:
  ReduceInput(RecordStream& stream, const TaskContext& context)
      : stream_(stream), context_(context) {}

  Result<std::span<const RecordView>> next() override {
    if (context_.is_stopping()) return job_stopped();
    auto records = stream_.next();
    if (records.ok()) records_ += records->size();
    return records;
  }
  std::uint64_t records() const { return records_; }

 private:
  RecordStream& stream_;
  const TaskContext& context_;
  std::uint64_t records_ = 0;
};

Status reduce_groups(JobRun& run, TaskContext& context, RecordStream& input, RecordOutput& output) {
  GroupReader groups(input, run.job.has_group_order ? run.job.group_order : run.job.sort_order);
  std::unique_ptr<Reducer> reducer;
  HUMMER_TRY(call_guarded("the reducer", [&] {
    reducer = run.make_reducer();
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
  count_framework(context, "Reduce input groups", groups.groups());
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
                                      : reduce_groups(run, context, input, part.output()));
  HUMMER_TRY(part.close(context));
  count_framework(context, "Reduce input records", input.records());
  count_framework(context, "Reduce output records", part.output().records());
  return Status();
}

Status named_by_task(const TaskContext& context, const Status& status) {
  if (status.ok() || status.code() == ErrorCode::cancelled) return status;
  return status.with_context(fmt::format(
      "{} task {}", context.kind() == TaskContext::Kind::map ? "map" : "reduce", context.number()));
}

}  // namespace

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
