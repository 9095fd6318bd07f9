// A sink that sums up results, so that programs can be compared by what came out of them.
#pragma once

#include <memory>
#include <span>

#include <hummer/hummer.hpp>

#include "stateful/workload.hpp"

namespace stateful {

// add(Checksum&, const Result&)
template <typename Result, typename Add>
class ChecksumSink final : public hummer::SinkFunction<Result> {
 public:
  ChecksumSink(SharedChecksum* total, Add add) : total_(total), add_(add) {}
  hummer::OperatorResult write(std::span<const Result> results) override {
    for (const Result& one : results) add_(sum_, one);
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    total_->add(sum_);
    return hummer::OperatorResult::done;
  }

 private:
  SharedChecksum* total_;
  Add add_;
  Checksum sum_;
};

// `total` outlives the job. Answers what add_sink() does.
template <typename Result, typename Add>
auto add_checksum(const char* name, const hummer::DataStream<Result>& results,
                  SharedChecksum* total, Add add) {
  return results.add_sink(name, [total, add] {
    return std::unique_ptr<hummer::SinkFunction<Result>>(
        std::make_unique<ChecksumSink<Result, Add>>(total, add));
  });
}

}  // namespace stateful
