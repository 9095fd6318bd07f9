// Records that arrive on a schedule, whatever the job does about it: an open loop.
//
// Record i of a stream is due at start + i / rate, and carries that time. A source hands on what is
// due and waits for the next one; behind a stall it hands on all that has become due meanwhile,
// each record with the time at which it was due. So a stall counts for every record that came in
// it, not only for the one that saw it (no coordinated omission). What is late at the sink is its
// latency: one reading of the clock per batch there, one per call here.
//
// With a rate of 0 the loop is closed: records come as fast as the job takes them, for so many
// seconds, to find the rate that it sustains.
//
// Before the schedule begins, each source fills the state: one record for each of its share of the
// keys, which is due at 0 and not measured. The last source that is ready sets the start.
//
// Indexes: subtask s of p makes s, s + p, and so on, as GeneratorSource does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <hummer/hummer.hpp>

namespace latency {

inline std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Schedule {
  double rate = 0;        // records per second of one stream, over its subtasks; 0: closed loop
  double event_rate = 0;  // how fast the time of events goes on in a closed loop
  double seconds = 0;
  double warm_seconds = 0;
  std::uint64_t keys = 0;  // to fill with

  std::uint64_t records() const { return static_cast<std::uint64_t>(rate * seconds); }
  double period_ns() const { return 1e9 / (rate > 0 ? rate : event_rate); }
};

// Of the sources of a run.
struct Run {
  Schedule schedule;
  int sources = 0;
  std::atomic<int> ready{0};
  std::atomic<std::int64_t> start_ns{0};  // 0: not yet
  std::atomic<std::uint64_t> made_warm{0};

  void become_ready() {
    // What was filled with is still under way.
    constexpr std::int64_t settle_ns = 300'000'000;
    if (ready.fetch_add(1) + 1 == sources) start_ns = clock_ns() + settle_ns;
  }
  // Records due from then on are measured.
  std::int64_t measure_from() const {
    return start_ns + static_cast<std::int64_t>(schedule.warm_seconds * 1e9);
  }
  std::int64_t end_ns() const {
    return start_ns + static_cast<std::int64_t>(schedule.seconds * 1e9);
  }
};

// Record make(index, due_ns) for what is scheduled, Record fill(key) before; `made` gets how many
// of the schedule this subtask has made. With `timed` they have times of milliseconds from the
// start.
template <typename Record, typename Make, typename Fill>
class ArrivalSource final : public hummer::SourceFunction<Record> {
 public:
  ArrivalSource(Run* run, Make make, Fill fill, bool timed, std::vector<std::uint64_t>* made)
      : run_(run), make_(std::move(make)), fill_(std::move(fill)), timed_(timed), made_of_(made) {}

  hummer::Status open(hummer::OperatorContext& context) override {
    context_ = &context;
    subtask_ = static_cast<std::uint64_t>(context.subtask());
    subtasks_ = static_cast<std::uint64_t>(context.parallelism());
    next_fill_ = subtask_;
    return {};
  }

  hummer::OperatorResult produce(hummer::SourceOutput<Record>& out) override {
    if (!ready_) return fill(out);
    const std::int64_t start = run_->start_ns.load(std::memory_order_relaxed);
    if (start == 0) return hummer::OperatorResult::blocked;
    const std::int64_t now = clock_ns();
    return run_->schedule.rate > 0 ? make_due(out, start, now) : make_all(out, start, now);
  }

  hummer::Status snapshot(hummer::ByteWriter& out) override {
    out.put_value(made_);
    return {};
  }
  std::vector<hummer::StateDescription> states() override { return {{"made", "u64"}}; }
  hummer::Status close() override {
    (*made_of_)[subtask_] = made_;
    return {};
  }

 private:
  hummer::OperatorResult fill(hummer::SourceOutput<Record>& out) {
    const std::uint64_t keys = run_->schedule.keys;
    for (; next_fill_ < keys && !out.full(); next_fill_ += subtasks_)
      emit(out, fill_(next_fill_), 0);
    if (next_fill_ < keys) return hummer::OperatorResult::more;
    ready_ = true;
    run_->become_ready();
    return hummer::OperatorResult::more;
  }

  hummer::OperatorResult make_due(hummer::SourceOutput<Record>& out, std::int64_t start,
                                  std::int64_t now) {
    const std::uint64_t records = run_->schedule.records();
    const double period = run_->schedule.period_ns();
    const auto elapsed = static_cast<double>(now - start);
    std::uint64_t index = next_index();
    for (; index < records && !out.full(); index += subtasks_, ++made_) {
      const double due = static_cast<double>(index) * period;
      if (due > elapsed) break;
      emit(out, make_(index, start + static_cast<std::int64_t>(due)), due);
    }
    follow_with_watermark(out, static_cast<double>(index) * period);
    if (index >= records) return hummer::OperatorResult::done;
    const double next_due = static_cast<double>(index) * period;
    if (out.full() || next_due <= elapsed) return hummer::OperatorResult::more;
    context_->call_at(context_->now() + static_cast<std::int64_t>(next_due - elapsed));
    return hummer::OperatorResult::blocked;
  }

  // What is made is due now; the time of events goes on with the index, as fast as the schedule
  // says.
  hummer::OperatorResult make_all(hummer::SourceOutput<Record>& out, std::int64_t start,
                                  std::int64_t now) {
    if (now < start) return hummer::OperatorResult::blocked;
    if (now >= run_->end_ns()) return hummer::OperatorResult::done;
    const std::uint64_t before = made_;
    for (; !out.full(); ++made_) {
      const std::uint64_t index = next_index();
      emit(out, make_(index, now), static_cast<double>(index) * run_->schedule.period_ns());
    }
    if (now >= run_->measure_from()) run_->made_warm += made_ - before;
    follow_with_watermark(out, static_cast<double>(next_index()) * run_->schedule.period_ns());
    return hummer::OperatorResult::more;
  }

  std::uint64_t next_index() const { return subtask_ + made_ * subtasks_; }
  static hummer::Timestamp time_of(double since_start_ns) {
    return static_cast<hummer::Timestamp>(since_start_ns / 1e6);
  }
  void emit(hummer::SourceOutput<Record>& out, const Record& record, double since_start_ns) {
    out.emit(record, timed_ ? time_of(since_start_ns) : hummer::no_timestamp);
  }
  void follow_with_watermark(hummer::SourceOutput<Record>& out, double next_ns) {
    if (!timed_ || time_of(next_ns) == watermark_) return;
    watermark_ = time_of(next_ns);
    out.watermark(watermark_);
  }

  Run* const run_;
  Make make_;
  Fill fill_;
  const bool timed_;
  std::vector<std::uint64_t>* const made_of_;
  hummer::OperatorContext* context_ = nullptr;
  std::uint64_t subtask_ = 0;
  std::uint64_t subtasks_ = 1;
  std::uint64_t next_fill_ = 0;
  bool ready_ = false;
  std::uint64_t made_ = 0;
  hummer::Timestamp watermark_ = 0;
};

}  // namespace latency
