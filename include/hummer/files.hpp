// Files that keep coming, and files that are rolled (docs/connectors.md is the manual):
//
//   follow_files(env, "/in", {.settle_ms = 5'000})           // for ever; text, as from_file gives
//   write_files(clicks, "/out", {.compression = FileCompression::zstd},
//               hourly(&Click::time_ms));                    // /out/dt=2026-11-26/hour=11/part-…
#pragma once

#include <initializer_list>

#include <hummer/detail/operators/rolling_sink.hpp>
#include <hummer/text_stream.hpp>

namespace hummer {

// By when they were changed last, or by their paths' bytes.
enum class FileOrder : std::uint8_t { time, name };
// The job fails and names the file, or goes on without it, says so on standard error and counts it.
enum class FileTrouble : std::uint8_t { fail, leave_out };

struct FollowOptions {
  FileOrder order = FileOrder::time;  // of those that one look finds
  std::int64_t discovery_interval_ms = 1'000;
  // A file is taken when it has been the same for so long; 0: at once.
  std::int64_t settle_ms = 2'000;
  std::int64_t modified_since_ms = 0;  // older files are left out; ms since 1970
  // Of so many files names are kept. Beyond it the first in `order` are forgotten, and what is not
  // behind the last of those is taken for one of them.
  std::size_t remembered_files = 100'000;
  FileTrouble changed = FileTrouble::fail;  // a file that is not what was taken
  FileTrouble removed = FileTrouble::fail;  // one that is gone before it was read
  // The stream ends when a file of this name is there, with what is there then; empty: never.
  std::string end_marker = {};
  FileSourceOptions file = {};  // but for map_files
  std::string uid = {};         // names the state of both its operators across versions of the job
  std::shared_ptr<const FileStoreFactory> store = local_files();
};

// Text of the files of a directory or a pattern, also of those that come later, each once.
TextStream follow_files(StreamExecutionEnvironment& env, const std::string& path,
                        const FollowOptions& options = {});

// One line per record (format_record) to files of `path`, or of a directory in it per partition.
// Each appears once, whole, with the checkpoint that holds its last line; without checkpoints, when
// it is rolled. RollOptions: hummer/detail/operators/rolling_sink.hpp. `append(const T&,
// std::string&)` writes a record in another way, with what ends it.
template <typename T, typename PartitionOf = NoPartition, typename Append = AppendLine>
DataStream<T> write_files(const DataStream<T>& records, const std::string& path,
                          const RollOptions& options = {}, PartitionOf partition_of = {},
                          Append append = {}) {
  if constexpr (detail::check_partition<PartitionOf, T>()) {
    const auto make = [=](const Plan& plan) {
      return std::make_unique<RollingSinkOperator<T, PartitionOf, Append>>(
          path, options, plan.checkpoints, partition_of, append);
    };
    return records.add_sink("write_files", make_planned_factory(make),
                            captured_values(partition_of)
                                .and_also(captured_values(append))
                                .and_also(captured_options(path, options)));
  } else {
    return records;
  }
}

// ---- partitions: directories as Hive names them ----
//
// A partition function is called per record; it answers a path in the sink's directory, or a
// Partition, which also says from which event time on no record of it is expected. A path is
// refused where it leaves the directory ("..") or would be hidden (a name that begins with '.' or
// '_').

struct PartitionField {
  std::string_view name;
  std::string_view value;  // escaped as Hive does: '/' becomes %2F; empty: as what is missing
};
// "country=fr/site=12".
std::string partition_path(std::initializer_list<PartitionField> fields);

// dt=2026-11-26, and dt=2026-11-26/hour=11, of UTC. time_of: member pointer or function(const T&) →
// ms since 1970.
template <typename TimeOf>
auto daily(TimeOf time_of) {
  return detail::CalendarPartition<TimeOf>(time_of, 86'400'000);
}
template <typename TimeOf>
auto hourly(TimeOf time_of) {
  return detail::CalendarPartition<TimeOf>(time_of, 3'600'000);
}

}  // namespace hummer
