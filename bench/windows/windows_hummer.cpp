// windows_hummer: a count per key and window, tumbling or sliding, or with --gap-ms by
// sessions (the way of all windows with a state per key), through the public API. One line of JSON
// at the end; with --progress a file tells how far it is (checkpoints/progress_page.hpp).
#include <memory>
#include <span>
#include <string>

#include <hummer/hummer.hpp>

#include "checkpoints/progress_page.hpp"
#include "workload.hpp"

namespace {

using Result = hummer::Windowed<std::uint64_t, std::uint64_t>;

struct ToldKeyOfIndex {
  windows::KeyOfIndex key_of;
  checkpoints::ProgressPage page;
  std::uint64_t operator()(std::uint64_t index) const {
    page.made(index);
    return key_of(index);
  }
};

class ChecksumSink final : public hummer::SinkFunction<Result> {
 public:
  explicit ChecksumSink(windows::Checksum* total) : total_(total) {}
  hummer::OperatorResult write(std::span<const Result> results) override {
    for (const Result& one : results) {
      sum_.add(one.key, one.window.start_ms, one.window.end_ms, one.value);
    }
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    *total_ = sum_;
    return hummer::OperatorResult::done;
  }

 private:
  windows::Checksum* total_;
  windows::Checksum sum_;
};

std::uint64_t number(hummer::StreamExecutionEnvironment& env, const char* name,
                     std::uint64_t otherwise) {
  return std::stoull(env.argument_or(name, std::to_string(otherwise)));
}

}  // namespace

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  windows::Workload work;
  work.records = number(env, "records", work.records);
  work.keys = number(env, "keys", work.keys);
  work.records_per_ms = number(env, "records-per-ms", work.records_per_ms);
  work.size_ms = static_cast<std::int64_t>(number(env, "size-ms", 20'000));
  work.slide_ms = static_cast<std::int64_t>(number(env, "slide-ms", 20'000));
  const std::string strategy = env.argument_or("strategy", "automatic");
  const auto gap_ms = static_cast<std::int64_t>(number(env, "gap-ms", 0));
  windows::Checksum total;
  const checkpoints::ProgressPage page(env.argument_or("progress", ""));
  const auto keyed = env.generate(ToldKeyOfIndex{{work.keys}, page},
                                  {.count = work.records, .watermark_interval = 1024},
                                  windows::TimeOfIndex{work.records_per_ms})
                         .key_by(hummer::identity);
  const auto counts =
      gap_ms > 0 ? keyed.window(hummer::SessionWindows::with_gap(gap_ms)).count()
                 : keyed.window(hummer::SlidingWindows::of(work.size_ms, work.slide_ms))
                       .strategy(strategy == "late_merge"    ? hummer::WindowStrategy::late_merge
                                 : strategy == "repartition" ? hummer::WindowStrategy::repartition
                                                             : hummer::WindowStrategy::automatic)
                       .count();
  counts
      .add_sink("checksum", hummer::make_operator_factory([&total] {
                  return std::make_unique<hummer::SinkFunctionOperator<Result>>(
                      std::make_unique<ChecksumSink>(&total));
                }))
      .parallelism(1);
  const hummer::JobResult result = env.execute("windows");
  if (result.ok()) windows::report("hummer", work, result.seconds, total);
  return result.exit_code();
}
