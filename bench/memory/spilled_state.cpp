// spilled_state: the speed of state that does not fit into its limit, and what its checkpoints
// cost.
//
//   spilled_state --form count|function|sliding [--keys N] [--records N]
//                 [--distribution zipf|uniform] [--touched N] [--memory-limit SIZE]
//                 [--checkpoint-dir DIR --checkpoint-interval-ms N ...]
//
// A count per key (built in; as a keyed function with one value; of windows of half of the records,
// in four steps). First each key once, in an order without locality, which fills the state; then
// --records records, whose keys are drawn: zipf (about z = 1) or uniform, of --touched of the keys
// (0: all). What is measured is the second part, to the end of the job. All results are checked:
// the counts of all keys add up to the records, windows to four times.
//
// It runs on one slot, so that whoever holds it up is seen at the source: the longest time between
// two of its calls in the second part, and the longest of those while a barrier was on its way from
// the source to the sink. Where results of a window went out in that time it is the window's, and
// told apart: a barrier behind it waits as records do, and does not hold them up. What processor
// time the slot took says more on a machine that others use. One line of JSON.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <hummer/hummer.hpp>
#include <memory>
#include <span>
#include <string>

#include "spilled_keys.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using spilled::Keys;
using Count = hummer::KeyValue<std::uint64_t, std::uint64_t>;

// Of this thread: others of the machine do not add to it.
double processor_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// What the source and the sink see; they share a slot.
struct Seen {
  Clock::time_point filled;
  double filled_processor = 0;  // of the slot, as all that follows of it
  double end_processor = 0;
  Clock::time_point last_call;
  Clock::time_point end;
  double longest_ms = 0;
  double longest_at_barrier_ms = 0;
  double longest_at_window_ms = 0;
  int barriers_under_way = 0;
  std::uint64_t barriers = 0;
  std::uint64_t results = 0;
  std::uint64_t sum = 0;
  std::uint64_t restored_at = 0;

  void call(Clock::time_point now) {
    if (last_call != Clock::time_point()) {
      const double gap = milliseconds(now - last_call);
      longest_ms = std::max(longest_ms, gap);
      if (window_went_out_) {
        longest_at_window_ms = std::max(longest_at_window_ms, gap);
      } else if (at_barrier_) {
        longest_at_barrier_ms = std::max(longest_at_barrier_ms, gap);
      }
    }
    window_went_out_ = false;
    at_barrier_ = barriers_under_way > 0;
    last_call = now;
  }
  void window_goes_out() { window_went_out_ = true; }
  void barrier_leaves() {
    ++barriers_under_way;
    ++barriers;
    at_barrier_ = true;
  }

 private:
  bool at_barrier_ = false;
  bool window_went_out_ = false;
};

class Source final : public hummer::SourceFunction<std::uint64_t> {
 public:
  Source(Keys keys, std::uint64_t records, bool timed, Seen* seen)
      : keys_(keys), records_(records), timed_(timed), seen_(seen) {}

  hummer::OperatorResult produce(hummer::SourceOutput<std::uint64_t>& out) override {
    const Clock::time_point now = Clock::now();
    if (next_ >= keys_.all) {
      if (seen_->filled == Clock::time_point()) {
        seen_->filled = now;
        seen_->filled_processor = processor_seconds();
      }
      seen_->call(now);
    }
    while (next_ < records_ && !out.full()) {
      const auto time = static_cast<hummer::Timestamp>(next_);
      out.emit(keys_.of(next_++), timed_ ? time : hummer::no_timestamp);
    }
    if (timed_) out.watermark(static_cast<hummer::Timestamp>(next_));
    return next_ == records_ ? hummer::OperatorResult::done : hummer::OperatorResult::more;
  }
  hummer::Status snapshot(hummer::ByteWriter& out) override {
    if (next_ >= keys_.all) seen_->barrier_leaves();
    out.put_value(next_);
    return {};
  }
  std::vector<hummer::StateDescription> states() override { return {{"place", "u64"}}; }
  hummer::Status restore(hummer::ByteReader& in) override {
    if (!in.get_value(next_)) return {hummer::ErrorCode::corrupt_record, "no place"};
    seen_->restored_at = next_;
    return {};
  }

 private:
  const Keys keys_;
  const std::uint64_t records_;
  const bool timed_;
  Seen* const seen_;
  std::uint64_t next_ = 0;
};

class Sink final : public hummer::SinkFunction<Count> {
 public:
  Sink(Seen* seen, bool of_windows) : seen_(seen), of_windows_(of_windows) {}
  hummer::OperatorResult write(std::span<const Count> counts) override {
    if (of_windows_) seen_->window_goes_out();
    seen_->results += counts.size();
    for (const Count& one : counts) seen_->sum += one.value;
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult flush(std::uint64_t /*epoch*/) override {
    seen_->barriers_under_way = std::max(0, seen_->barriers_under_way - 1);
    return hummer::OperatorResult::done;
  }
  hummer::OperatorResult end() override {
    seen_->end = Clock::now();
    seen_->end_processor = processor_seconds();
    return hummer::OperatorResult::done;
  }

 private:
  Seen* const seen_;
  const bool of_windows_;
};

// A result for every record: one.
struct CountInState {
  hummer::ValueState<std::uint64_t> seen{"seen"};
  void process(std::uint64_t key, hummer::KeyedOutput<Count>& out) {
    (void)seen.update(0, [](std::uint64_t& value) { ++value; });
    out.emit(Count{key, 1});
  }
};

long resident_kib() {
  long total = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  const int fields = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * 4 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::string form = env.argument_or("form", "function");
  Keys keys;
  keys.all = std::stoull(env.argument_or("keys", "1000000"));
  keys.touched = std::stoull(env.argument_or("touched", "0"));
  keys.zipf = env.argument_or("distribution", "uniform") == "zipf";
  if (keys.touched == 0) keys.touched = keys.all;
  const std::uint64_t records = keys.all + std::stoull(env.argument_or("records", "4000000"));
  Seen seen;
  const bool sliding = form == "sliding";
  const auto keyed =
      env.from_source<std::uint64_t>(
             "keys", [&] { return std::make_unique<Source>(keys, records, sliding, &seen); }, true)
          .parallelism(1)
          .key_by(hummer::identity);
  const auto window_ms = static_cast<std::int64_t>(records / 8 * 4);
  const auto counts = sliding
                          ? keyed.window(hummer::SlidingWindows::of(window_ms, window_ms / 4))
                                .strategy(hummer::WindowStrategy::repartition)
                                .count()
                                .map([](const hummer::Windowed<std::uint64_t, std::uint64_t>& one) {
                                  return Count{one.key, one.value};
                                })
                      : form == "function" ? keyed.process(CountInState{})
                                           : keyed.count();
  counts
      .add_sink("sum", hummer::make_operator_factory([&seen, sliding] {
                  return std::make_unique<hummer::SinkFunctionOperator<Count>>(
                      std::make_unique<Sink>(&seen, sliding));
                }))
      .parallelism(1);
  const hummer::JobResult result = env.execute("spilled_state");
  if (!result.ok()) return result.exit_code();
  // Of a function that was restored the results behind the checkpoint only.
  const std::uint64_t expected = sliding              ? 4 * records
                                 : form == "function" ? records - seen.restored_at
                                                      : records;
  const bool right = seen.sum == expected;
  const double seconds = milliseconds(seen.end - seen.filled) / 1e3;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"form\": \"%s\", \"keys\": %llu, \"records\": %llu, \"seconds\": %.3f, "
      "\"slot_processor_seconds\": %.3f, \"job_seconds\": %.3f, \"right\": %s, \"barriers\": %llu, "
      "\"longest_stall_ms\": %.2f, "
      "\"longest_stall_at_barrier_ms\": %.2f, \"longest_stall_at_window_ms\": %.2f, "
      "\"restored_at\": %llu, \"resident_mib\": %ld, "
      "\"most_resident_mib\": %ld}\n",
      form.c_str(), static_cast<unsigned long long>(keys.all),
      static_cast<unsigned long long>(records - keys.all), seconds,
      seen.end_processor - seen.filled_processor, result.seconds, right ? "true" : "false",
      static_cast<unsigned long long>(seen.barriers), seen.longest_ms, seen.longest_at_barrier_ms,
      seen.longest_at_window_ms, static_cast<unsigned long long>(seen.restored_at),
      resident_kib() / 1024, usage.ru_maxrss / 1024);
  return right ? 0 : 1;
}
