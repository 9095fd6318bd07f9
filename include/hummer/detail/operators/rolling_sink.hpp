// RollingSinkOperator: the sink of write_files (hummer/files.hpp). Records go into an open part (a
// file) of their partition; parts are rolled, and each becomes visible with the checkpoint behind
// its last record. Where files lie, what they are called and what a crash leaves:
// src/connectors/file_store/rolling_files.hpp.
//
// Memory: of each open part 128 KiB and its compressor, of the first four 512 KiB, as larger writes
// cost a file system less; it is counted. State: parts that are finished and not yet visible, and
// open ones, as far as they were written. Errors: those of the store; a partition or append
// function that throws leaves out the whole record, with `in` at it.
// Thread: that of the operator.
//
// Cost: per record the two functions, and a comparison of its partition with the one before; a
// look-up where that is another one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/calendar_partitions.hpp>
#include <hummer/detail/checks.hpp>
#include <hummer/detail/file_store.hpp>
#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/format.hpp>
#include <hummer/operator.hpp>

namespace hummer {

enum class FileCompression : std::uint8_t { none, gzip, zstd };

// A file is rolled at the first of these; 0: not by this. Without roll_at_checkpoints a file may
// grow over many checkpoints.
struct RollOptions {
  std::uint64_t roll_bytes = 128 << 20;  // as written, so compressed
  std::uint64_t roll_records = 0;
  std::int64_t roll_ms = 15 * 60'000;  // since its first record
  std::int64_t idle_ms = 60'000;       // since its last one
  bool roll_at_checkpoints = false;
  // Of one subtask; beyond it the one that was not written to for longest is rolled.
  std::size_t max_open_partitions = 64;

  FileCompression compression = FileCompression::none;
  int compression_level = 0;  // 0: the library's usual one
  std::string head = {};      // what each file begins with
  std::string suffix = {};    // of names, such as ".csv"; that of the compression follows
  // An empty file _SUCCESS in each partition when all of its files are visible and the watermark
  // has passed its end; where that is unknown, at the end of the stream.
  bool success_markers = false;
  // A new job is refused where another one has written before.
  bool refuse_existing = true;
  std::shared_ptr<const FileStoreFactory> store = local_files();
};

CapturedValues captured_options(const std::string& path, const RollOptions& options);

struct NoPartition {
  template <typename T>
  std::string_view operator()(const T&) const {
    return {};
  }
};

// The record as print and write_file have it.
struct AppendLine {
  template <typename T>
  void operator()(const T& record, std::string& text) const {
    if constexpr (detail::check_written<T>()) {
      format_record(record, text);
      text.push_back('\n');
    }
  }
};

namespace detail {

template <typename PartitionOf, typename T>
consteval bool check_partition() {
  constexpr bool is_called = std::is_invocable_v<PartitionOf&, const T&>;
  static_assert(is_called,
                "write_files: its partition function does not take the stream's records: its one "
                "parameter must be a const T&");
  if constexpr (is_called) {
    using Answer = std::remove_cvref_t<std::invoke_result_t<PartitionOf&, const T&>>;
    constexpr bool is_partition =
        std::is_same_v<Answer, Partition> || std::is_convertible_v<Answer, std::string_view>;
    static_assert(is_partition,
                  "write_files: its partition function must return text, such as that of "
                  "partition_path(...), or a hummer::Partition");
    return is_partition && check_copies<PartitionOf>();
  } else {
    return false;
  }
}

inline std::string_view path_of(const Partition& partition) { return partition.path; }
inline std::string_view path_of(std::string_view path) { return path; }
inline Timestamp end_of(const Partition& partition) { return partition.ends_at; }
inline Timestamp end_of(std::string_view) { return end_of_time; }

}  // namespace detail

// What the loop over a batch sees of the file that is being written.
struct OpenPart {
  std::string partition;            // as the function says it
  std::string text;                 // not handed over yet
  std::size_t most_text_bytes = 0;  // from which on it is
  std::uint64_t records = 0;
  std::int64_t used_at = 0;  // when the last one came
};

class RollingFiles;

// What needs no type.
class RollingSinkBase : public Operator {
 public:
  ~RollingSinkBase() override;
  void declare(Output&) const override {}
  bool can_skip_record() const override { return true; }
  Status restore(ByteReader& in) override;
  Status open() override;
  OperatorResult watermark(Timestamp time, Output& out) override;
  OperatorResult timer(std::int64_t now, Output& out) override;
  OperatorResult flush(Output& out) override;
  OperatorResult end(Output& out) override;
  std::vector<StateDescription> states() override { return {{"parts", "rolling_parts"}}; }
  Status snapshot(ByteWriter& out) override;
  Status commit(std::uint64_t epoch) override;
  Status close() override;

 protected:
  RollingSinkBase(const std::string& path, const RollOptions& options, bool checkpoints);

  // part_ is that of the partition.
  Status turn_to(std::string_view partition, Timestamp ends_at);
  // part_ has enough text or records for it; null behind it: it was rolled.
  Status hand_over();

  OpenPart* part_ = nullptr;
  std::uint64_t most_records_;

 private:
  OperatorResult answer(Status status);

  std::unique_ptr<RollingFiles> files_;
};

template <StreamType T, typename PartitionOf, typename Append>
class RollingSinkOperator final : public RollingSinkBase {
 public:
  RollingSinkOperator(const std::string& path, const RollOptions& options, bool checkpoints,
                      PartitionOf partition_of, Append append)
      : RollingSinkBase(path, options, checkpoints),
        partition_of_(std::move(partition_of)),
        append_(std::move(append)) {}

  OperatorResult process(Batch& in, Output&) override {
    const auto records = in.values<T>();
    std::size_t at = in.position();
    std::size_t complete = part_ == nullptr ? 0 : part_->text.size();
    try {
      for (; at < records.size(); ++at) {
        decltype(auto) partition = partition_of_(records[at]);
        if (part_ == nullptr || part_->partition != detail::path_of(partition)) {
          Status status = turn_to(detail::path_of(partition), detail::end_of(partition));
          if (!status.ok()) return give_up(in, at, std::move(status));
          complete = part_->text.size();
        }
        append_(records[at], part_->text);
        ++part_->records;
        complete = part_->text.size();
        if (complete < part_->most_text_bytes && part_->records != most_records_) continue;
        if (Status status = hand_over(); !status.ok()) return give_up(in, at, std::move(status));
        complete = 0;
      }
    } catch (...) {
      if (part_ != nullptr) part_->text.resize(complete);
      in.advance_to(at);
      throw;
    }
    in.advance_to(at);
    if (part_ != nullptr) part_->used_at = context().now();
    return OperatorResult::done;
  }

 private:
  OperatorResult give_up(Batch& in, std::size_t at, Status status) {
    in.advance_to(at);
    return context().fail(std::move(status));
  }

  PartitionOf partition_of_;
  Append append_;
};

}  // namespace hummer
