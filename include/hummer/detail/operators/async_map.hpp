// AsyncMapOperator: one result per record, by a function that may take its time.
//
//   auto pool = std::make_shared<ClientPool>();               // with threads of its own
//   stream.async_map([pool](const Order& order, AsyncResult<Price> result) {
//     pool->ask(order.item, [result](Price price) { result.complete(price); });
//   }, {.capacity = 200, .timeout_ms = 1'000, .order = AsyncOrder::unordered});
//
// The function starts the work and returns; it must not wait. `result` may be
// copied, kept, and completed once, from any thread: complete(value) or
// fail(reason); what comes after that, or after the job's end, is dropped. One that
// is destroyed everywhere without either fails the job by itself. Text in the record
// is valid during the call only.
//
// At most `capacity` records are under way per subtask; then input waits. A record
// that takes longer than `timeout_ms` fails the job (E3006), or gives what the
// function object's on_timeout(const T&) → U answers, if it has such a member.
//
// Order: `ordered` gives results in the order of the records, `unordered` as they
// come. In both a watermark goes on when the results of all records before it have
// gone, so none is late by it; those of later records may have gone, too. Meanwhile input is
// taken: `capacity` holds across watermarks. That the input has become inactive waits likewise.
//
// Snapshot: the records under way, also those whose results wait, and the watermark behind them.
// After a restore the function is called for them again, first of all, in the subtask that had read
// them. At another parallelism p those of subtask s go together to subtask s % p, and watermarks go
// on from the least of all, so that they make nothing late. Where p does not divide the old one,
// records of a split under way and later ones may then come by two subtasks, in no order.
// Memory: the records under way can't go to disk; where they and their results have no room, the
// job fails by name (limit_exceeded): a smaller capacity holds less. Thread: the function, that of
// the operator.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/keyed_states.hpp>

namespace hummer {

enum class AsyncOrder : std::uint8_t { ordered, unordered };

struct AsyncOptions {
  std::size_t capacity = 100;
  std::int64_t timeout_ms = 0;  // 0: none
  AsyncOrder order = AsyncOrder::ordered;
};

namespace detail {

template <typename U>
struct AsyncOutcome {
  std::uint64_t ticket;
  std::optional<U> value;  // empty: failed
  std::string reason;
};

// Where results arrive, from any thread.
template <typename U>
class AsyncBoard {
 public:
  explicit AsyncBoard(OperatorContext& context) : context_(&context) {}
  void put(AsyncOutcome<U> outcome) {
    const std::lock_guard lock(mutex_);
    if (context_ == nullptr) return;
    arrived_.push_back(std::move(outcome));
    context_->wake();
  }
  void take(std::vector<AsyncOutcome<U>>& outcomes) {
    const std::lock_guard lock(mutex_);
    std::swap(outcomes, arrived_);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    arrived_.clear();
  }

 private:
  std::mutex mutex_;
  OperatorContext* context_;
  std::vector<AsyncOutcome<U>> arrived_;
};

// One record's right to a result.
template <typename U>
class AsyncTicket {
 public:
  AsyncTicket(std::shared_ptr<AsyncBoard<U>> board, std::uint64_t number)
      : board_(std::move(board)), number_(number) {}
  ~AsyncTicket() { deliver({number_, {}, "its AsyncResult was dropped without a result"}); }
  AsyncTicket(const AsyncTicket&) = delete;
  AsyncTicket& operator=(const AsyncTicket&) = delete;

  std::uint64_t number() const { return number_; }
  void deliver(AsyncOutcome<U> outcome) {
    if (!delivered_.exchange(true, std::memory_order_acq_rel)) board_->put(std::move(outcome));
  }

 private:
  std::shared_ptr<AsyncBoard<U>> board_;
  const std::uint64_t number_;
  std::atomic<bool> delivered_{false};
};

}  // namespace detail

template <typename U>
class AsyncResult {
 public:
  explicit AsyncResult(std::shared_ptr<detail::AsyncTicket<U>> ticket)
      : ticket_(std::move(ticket)) {}
  // Any thread. The first call counts.
  void complete(U value) const { ticket_->deliver({ticket_->number(), std::move(value), {}}); }
  void fail(std::string reason) const {
    ticket_->deliver({ticket_->number(), {}, std::move(reason)});
  }

 private:
  std::shared_ptr<detail::AsyncTicket<U>> ticket_;
};

template <StreamType In, typename U, typename Function>
class AsyncMapOperator final : public Operator {
  using Out = Stored<U>;
  static_assert(!holds_views<U>, "an asynchronous result must own its text: use std::string");

 public:
  AsyncMapOperator(Function function, AsyncOptions options)
      : function_(std::move(function)), options_(options) {}
  ~AsyncMapOperator() override {
    if (board_) board_->close();
  }

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  bool makes_watermarks() const override { return true; }

  bool takes_all_pieces() const override { return true; }
  Status restore(ByteReader& in) override {
    std::uint8_t version = 0;
    std::uint64_t count = 0;
    Timestamp received = no_timestamp, passed = no_timestamp;
    if (!in.get_value(version) || version != snapshot_version || !in.get_value(received) ||
        !in.get_value(passed) || !in.get_value(count)) {
      return {ErrorCode::corrupt_record, "the state of an async_map cannot be decoded"};
    }
    restored_received_.add(received);
    restored_passed_.add(passed);
    const bool falls_here = restored_received_.last_falls_to(context());
    for (std::uint64_t i = 0; i < count; ++i) {
      Timestamp time = 0;
      std::string_view bytes;
      if (!in.get_value(time) || !in.get_text(bytes)) {
        return {ErrorCode::corrupt_record, "the state of an async_map is cut short"};
      }
      if (!falls_here) continue;
      waiting_.push_back({std::string(bytes), time});
      held_bytes_ += bytes_of(waiting_.back());
    }
    return {};
  }
  std::vector<StateDescription> states() override {
    return {{"watermarks", "tuple<i64,i64>"},
            {"under_way", "vector<tuple<i64," + Codec<In>::name() + ">>"}};
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(snapshot_version);
    out.put_value(received_);
    out.put_value(passed_);
    out.put_value(static_cast<std::uint64_t>(under_way_ + waiting_.size()));
    for (const Pending& one : pending_) {
      if (one.gone) continue;
      out.put_value(one.record.time);
      out.put_text(one.record.bytes);
    }
    for (const Held& held : waiting_) {
      out.put_value(held.time);
      out.put_text(held.bytes);
    }
    return {};
  }

  Status open() override {
    if (options_.capacity == 0) {
      return {ErrorCode::invalid_argument, "async_map: capacity must be 1 or more"};
    }
    board_ = std::make_shared<detail::AsyncBoard<U>>(context());
    memory_.open(context().memory(), false);
    HUMMER_TRY(memory_.set(held_bytes_));
    if (restored_received_.known()) {
      received_ = restored_received_.of(context());
      passed_ = restored_passed_.of(context());
    }
    // What waited in the earlier run.
    if (received_ > passed_) marks_.push_back({Control::watermark(received_), waiting_.size()});
    if (!waiting_.empty() || !marks_.empty()) context().call_at(context().now());
    return {};
  }
  Status close() override {
    if (board_) board_->close();
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override {
    const auto values = in.values<In>();
    for (;;) {
      if (const OperatorResult answer = pump(out); answer != OperatorResult::done) return answer;
      if (in.finished()) return pass_marks(out);
      if (under_way_ >= options_.capacity) return OperatorResult::blocked;
      std::size_t taken = in.position();
      for (; taken < values.size() && under_way_ < options_.capacity; ++taken) {
        in.advance_to(taken);  // for the message, should the function throw
        Held held{{}, in.has_timestamps() ? in.timestamps()[taken] : no_timestamp};
        encode(values[taken], held.bytes);
        held_bytes_ += bytes_of(held);
        issue(values[taken], std::move(held));
      }
      in.advance_to(taken);
      if (Status room = memory_.set(held_bytes_); !room.ok()) {
        return context().fail(std::move(room));
      }
    }
  }
  OperatorResult idle(Output& out) override { return pump_and_pass(out); }
  OperatorResult timer(std::int64_t, Output& out) override {
    armed_ = INT64_MAX;
    return pump_and_pass(out);
  }
  OperatorResult watermark(Timestamp time, Output& out) override {
    received_ = std::max(received_, time);
    add_mark(Control::watermark(received_));
    return pump_and_pass(out);
  }
  OperatorResult inactive(Output& out) override {
    add_mark(Control::inactive());
    return pump_and_pass(out);
  }
  OperatorResult active(Output& out) override {
    add_mark(Control::active());
    return pump_and_pass(out);
  }
  // Until nothing is under way any more.
  OperatorResult end(Output& out) override {
    if (const OperatorResult answer = pump(out); answer != OperatorResult::done) return answer;
    if (under_way_ + waiting_.size() == 0) return OperatorResult::done;
    // What there is goes on meanwhile.
    return out.batch().empty() ? OperatorResult::blocked : OperatorResult::more;
  }

 private:
  static constexpr std::uint8_t snapshot_version = 2;

  struct Held {
    std::string bytes;  // the record, by its codec
    Timestamp time;
  };
  struct Pending {
    Held record;
    std::int64_t deadline;
    std::optional<U> value;
    bool gone = false;  // its result is out
  };
  // A watermark, or that the input is inactive or active, which waits for the results of records
  // with numbers before this.
  struct Mark {
    Control control;
    std::uint64_t before;
  };

  // With its place among those under way.
  static std::size_t bytes_of(const Held& held) {
    return sizeof(Pending) + detail::heap_bytes_of(held.bytes);
  }
  static void encode(const In& record, std::string& bytes) {
    ByteWriter writer(bytes);
    Codec<In>::encode(record, writer);
    bytes.resize(writer.size());
  }
  template <typename Call>
  static decltype(auto) with_record(const std::string& bytes, Call&& call) {
    In record{};
    ByteReader reader(bytes);
    HUMMER_ASSERT(Codec<In>::decode(reader, record));
    return call(static_cast<const In&>(record));
  }

  void issue(const In& record, Held held) {
    const std::int64_t deadline =
        options_.timeout_ms > 0 ? context().now() + options_.timeout_ms * 1'000'000 : INT64_MAX;
    const std::uint64_t number = first_number_ + pending_.size();
    pending_.push_back({std::move(held), deadline, {}});
    ++under_way_;
    function_(record, AsyncResult<U>(std::make_shared<detail::AsyncTicket<U>>(board_, number)));
  }

  void add_mark(const Control& control) {
    // Restored records have their calls, and so their numbers, before any that comes.
    const std::uint64_t before = first_number_ + pending_.size() + waiting_.size();
    const bool replaces = !marks_.empty() && marks_.back().before == before &&
                          marks_.back().control.kind == control.kind;
    if (!replaces) marks_.push_back({{}, before});
    marks_.back().control = control;
  }
  OperatorResult pump_and_pass(Output& out) {
    const OperatorResult answer = pump(out);
    return answer == OperatorResult::done ? pass_marks(out) : answer;
  }
  // Behind the results that have just gone: the last of what waits for none any more.
  OperatorResult pass_marks(Output& out) {
    const Timestamp before = passed_;
    bool inactive = said_inactive_;
    for (; !marks_.empty() && marks_.front().before <= first_number_; marks_.pop_front()) {
      const Control& next = marks_.front().control;
      if (next.kind == Control::Kind::inactive && passed_ > before) {
        context().wake();  // behind the watermark, with a call of its own
        break;
      }
      inactive = next.kind == Control::Kind::inactive;
      if (next.kind == Control::Kind::watermark) passed_ = next.time;
    }
    if (passed_ > before) {
      out.set_control(Control::watermark(passed_));
    } else if (inactive != said_inactive_) {
      out.set_control(inactive ? Control::inactive() : Control::active());
    }
    said_inactive_ = inactive;
    return OperatorResult::done;
  }

  // Calls for restored records, takes what has arrived or timed out, emits what may go.
  OperatorResult pump(Output& out) {
    for (;;) {
      if (!take_arrived()) return OperatorResult::failed;
      if (Status room = memory_.set(held_bytes_); !room.ok()) {
        return context().fail(std::move(room));
      }
      if (!emit_ready(out)) return OperatorResult::more;
      if (waiting_.empty() || under_way_ >= options_.capacity) break;
      Held held = std::move(waiting_.front());
      waiting_.pop_front();
      const std::string bytes = held.bytes;
      with_record(bytes, [&](const In& record) { issue(record, std::move(held)); });
    }
    (void)memory_.set(held_bytes_);  // less than before
    arm();
    return OperatorResult::done;
  }

  bool take_arrived() {
    arrived_.clear();
    board_->take(arrived_);
    for (auto& outcome : arrived_) {
      if (outcome.ticket < first_number_) continue;
      Pending& one = pending_[outcome.ticket - first_number_];
      if (one.gone || one.value) continue;  // its time was over
      if (!outcome.value) return fail_for(ErrorCode::operator_failed, outcome.reason);
      one.value = std::move(outcome.value);
      held_bytes_ += detail::heap_bytes_of(*one.value);
      one.deadline = INT64_MAX;
      ready_.push_back(outcome.ticket);
    }
    if (options_.timeout_ms <= 0) return true;
    const std::int64_t now = context().now();
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      Pending& one = pending_[i];
      if (one.gone || one.value) continue;
      if (one.deadline > now) break;  // in the order of the calls
      if constexpr (requires(const In& record) { function_.on_timeout(record); }) {
        one.value = with_record(
            one.record.bytes, [&](const In& record) -> U { return function_.on_timeout(record); });
        held_bytes_ += detail::heap_bytes_of(*one.value);
        ready_.push_back(first_number_ + i);
      } else {
        return fail_for(ErrorCode::timed_out,
                        "no result after " + std::to_string(options_.timeout_ms) + " ms");
      }
    }
    return true;
  }
  bool fail_for(ErrorCode code, const std::string& reason) {
    (void)context().fail({code, "async_map '" + context().name() + "': " + reason});
    return false;
  }

  // False: the output is full.
  bool emit_ready(Output& out) {
    if (options_.order == AsyncOrder::ordered) {
      ready_.clear();
      while (!pending_.empty() && pending_.front().value) {
        if (out.full()) return false;
        emit(pending_.front(), out);
        pop_gone();
      }
      return true;
    }
    while (!ready_.empty()) {
      if (out.full()) return false;
      emit(pending_[ready_.front() - first_number_], out);
      ready_.pop_front();
      pop_gone();
    }
    return true;
  }
  void emit(Pending& one, Output& out) {
    const std::size_t before = out.batch().size();
    held_bytes_ -= detail::heap_bytes_of(*one.value);
    out.collector<Out>().emit(std::move(*one.value));
    stamp(out.batch(), before, before + 1, one.record.time);
    one.value.reset();
    one.gone = true;
    --under_way_;
  }
  void pop_gone() {
    while (!pending_.empty() && pending_.front().gone) {
      held_bytes_ -= bytes_of(pending_.front().record);
      pending_.pop_front();
      ++first_number_;
    }
  }

  void arm() {
    if (options_.timeout_ms <= 0) return;
    for (const Pending& one : pending_) {
      if (one.gone || one.value) continue;
      if (one.deadline < armed_) {
        armed_ = one.deadline;
        context().call_at(armed_);
      }
      return;
    }
  }

  Function function_;
  const AsyncOptions options_;
  std::shared_ptr<detail::AsyncBoard<U>> board_;
  std::deque<Pending> pending_;  // numbered from first_number_ on
  std::uint64_t first_number_ = 0;
  std::size_t under_way_ = 0;        // of pending_: not gone
  std::deque<std::uint64_t> ready_;  // unordered: numbers with a result, as they came
  std::deque<Held> waiting_;         // restored, not called for yet
  std::size_t held_bytes_ = 0;       // of all of them, and results that wait
  MemoryUse memory_;
  std::deque<Mark> marks_;             // in order
  Timestamp received_ = no_timestamp;  // the last watermark
  Timestamp passed_ = no_timestamp;    // and the last that has gone on
  bool said_inactive_ = false;
  RestoredWatermark restored_received_;
  RestoredWatermark restored_passed_;
  std::vector<detail::AsyncOutcome<U>> arrived_;
  std::int64_t armed_ = INT64_MAX;
};

namespace detail {

// The U of the function's AsyncResult<U>.
template <typename Signature>
struct AsyncResultType;
template <typename Class, typename Return, typename In, typename U>
struct AsyncResultType<Return (Class::*)(In, AsyncResult<U>) const> {
  using Type = U;
};
template <typename Class, typename Return, typename In, typename U>
struct AsyncResultType<Return (Class::*)(In, AsyncResult<U>)> {
  using Type = U;
};

}  // namespace detail

}  // namespace hummer
