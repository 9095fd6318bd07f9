// As many bytes as an interface takes: --lanes pipelines (default 8), each a source on one
// TaskManager and a sink on another one, with a connection of its own through --interface.
//
// On two TaskManagers with slots enough all sources are on the first one: slots are dealt in turn,
// and each lane takes two. It goes on until it is stopped. A sink fails the job when a record is
// missing, and writes how many came to the file --report with the number of its lane behind it.
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <hummer/hummer.hpp>

namespace {

// Cheap to make, and long enough that the processor has little to do for each byte.
struct Bulk {
  std::uint64_t index;
  std::array<std::uint64_t, 127> rest;
};

class CheckedSink final : public hummer::SinkFunction<Bulk> {
 public:
  explicit CheckedSink(std::string report) : report_(std::move(report)) {}

  hummer::Status open(hummer::OperatorContext& context) override {
    context_ = &context;
    return {};
  }
  hummer::OperatorResult write(std::span<const Bulk> records) override {
    for (const Bulk& record : records) {
      if (record.index != records_ || record.rest.back() != ~records_) {
        return fail("instead of record " + std::to_string(records_) + " came " +
                    std::to_string(record.index));
      }
      ++records_;
    }
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    if (report_.empty()) return hummer::OperatorResult::done;
    std::FILE* const file = std::fopen(report_.c_str(), "w");
    if (file == nullptr) return fail("can't write " + report_);
    std::fprintf(file, "{\"records\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n", records_,
                 records_ * sizeof(Bulk));
    return std::fclose(file) == 0 ? hummer::OperatorResult::done : fail("can't write " + report_);
  }

 private:
  hummer::OperatorResult fail(std::string why) {
    return context_->fail({hummer::ErrorCode::user_function_failed, std::move(why)});
  }

  const std::string report_;
  hummer::OperatorContext* context_ = nullptr;
  std::uint64_t records_ = 0;
};

}  // namespace

void bulk_over_interface(hummer::StreamExecutionEnvironment& env) {
  const hummer::NetworkSettings through{.interface_or_address =
                                            env.argument_or("interface", "", "of the data edges")};
  const int lanes = std::stoi(env.argument_or("lanes", "8", "pipelines side by side"));
  const std::string report = env.argument_or("report", "", "files that the sinks write");
  for (int lane = 0; lane < lanes; ++lane) {
    const std::string number = std::to_string(lane);
    const std::string file = report.empty() ? report : report + number;
    env.generate(
           [](std::uint64_t index) {
             Bulk record{.index = index, .rest = {}};
             record.rest.back() = ~index;
             return record;
           },
           {})
        .parallelism(1)
        .resource_group("front " + number)
        .network(through)
        .rebalance()
        .add_sink("checked", hummer::rebuildable(
                                 [file]() -> std::unique_ptr<hummer::SinkFunction<Bulk>> {
                                   return std::make_unique<CheckedSink>(file);
                                 },
                                 file))
        .parallelism(1)
        .resource_group("back " + number);
  }
  env.execute(env.argument_or("name", "BulkOverInterface", "the job's name"));
}

HUMMER_JOB(bulk_over_interface)
