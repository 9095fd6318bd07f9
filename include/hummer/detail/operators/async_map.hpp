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

#include <atomic>
#include <deque>
#include <memory>
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

class AsyncBoard;  // where results arrive, from any thread

// One record's right to a result.
class AsyncTicket {
 public:
  AsyncTicket(std::shared_ptr<AsyncBoard> board, std::uint64_t number);
  AsyncTicket(const AsyncTicket&) = delete;
  AsyncTicket& operator=(const AsyncTicket&) = delete;

  // True for the first one that asks, who delivers.
  bool claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }
  // Null: it has failed.
  void deliver(std::shared_ptr<void> value, std::string reason);

 protected:
  ~AsyncTicket();

 private:
  const std::shared_ptr<AsyncBoard> board_;
  const std::uint64_t number_;
  std::atomic<bool> claimed_{false};
};

template <typename U>
struct AsyncTicketFor final : AsyncTicket {
  using AsyncTicket::AsyncTicket;
  std::optional<U> value;
};

}  // namespace detail

template <typename U>
class AsyncResult {
 public:
  explicit AsyncResult(std::shared_ptr<detail::AsyncTicketFor<U>> ticket)
      : ticket_(std::move(ticket)) {}
  // Any thread. The first call counts.
  void complete(U value) const {
    if (!ticket_->claim()) return;
    U& kept = ticket_->value.emplace(std::move(value));
    ticket_->deliver(std::shared_ptr<void>(ticket_, &kept), {});
  }
  void fail(std::string reason) const {
    if (ticket_->claim()) ticket_->deliver(nullptr, std::move(reason));
  }

 private:
  std::shared_ptr<detail::AsyncTicketFor<U>> ticket_;
};

// The part that needs no type: it knows which records are under way, and what goes on when.
class AsyncMapBase : public Operator {
 public:
  bool makes_watermarks() const override { return true; }
  bool takes_all_pieces() const override { return true; }
  Status restore(ByteReader& in) override;
  std::vector<StateDescription> states() override;
  Status snapshot(ByteWriter& out) override;
  Status open() override;
  Status close() override;
  OperatorResult process(Batch& in, Output& out) override;
  OperatorResult idle(Output& out) override;
  OperatorResult timer(std::int64_t, Output& out) override;
  OperatorResult watermark(Timestamp time, Output& out) override;
  OperatorResult inactive(Output& out) override;
  OperatorResult active(Output& out) override;
  OperatorResult end(Output& out) override;

 protected:
  explicit AsyncMapBase(const AsyncOptions& options) : options_(options) {}
  ~AsyncMapBase() override;

  struct Held {
    std::string bytes;  // the record, by its codec
    Timestamp time;
  };

  virtual std::string record_type() const = 0;
  // Calls the function for records of `in` from in.position() on, which it moves, while
  // has_room(); before each call comes add().
  virtual void call_all(Batch& in) = 0;
  // Calls it for one record that was restored.
  virtual void call_for(const std::string& bytes, std::uint64_t number) = 0;
  // The answer of the function for a record whose time is over; null: it has none.
  virtual std::shared_ptr<void> timed_out(const std::string& bytes) = 0;
  virtual std::size_t heap_bytes(const void* value) const = 0;
  virtual void emit(void* value, Output& out) = 0;

  bool has_room() const { return under_way_ < options_.capacity; }
  // Its number.
  std::uint64_t add(Held record);

  std::shared_ptr<detail::AsyncBoard> board_;

 private:
  struct Pending {
    Held record;
    std::int64_t deadline;
    std::shared_ptr<void> value;
    bool gone = false;  // its result is out
  };
  // A watermark, or that the input is inactive or active, which waits for the results of records
  // with numbers before this.
  struct Mark {
    Control control;
    std::uint64_t before;
  };

  static std::size_t bytes_of(const Held& held);
  void add_mark(const Control& control);
  OperatorResult pump_and_pass(Output& out);
  OperatorResult pass_marks(Output& out);
  OperatorResult pump(Output& out);
  bool take_arrived();
  bool take_timed_out();
  void take_value(Pending& one, std::uint64_t number, std::shared_ptr<void> value);
  bool fail_for(ErrorCode code, const std::string& reason);
  bool emit_ready(Output& out);
  void emit_one(Pending& one, Output& out);
  void pop_gone();
  void arm();

  const AsyncOptions options_;
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
  std::int64_t armed_ = INT64_MAX;
};

template <StreamType In, typename U, typename Function>
class AsyncMapOperator final : public AsyncMapBase {
  using Out = Stored<U>;
  static_assert(!holds_views<U>, "an asynchronous result must own its text: use std::string");

 public:
  AsyncMapOperator(Function function, const AsyncOptions& options)
      : AsyncMapBase(options), function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }

 private:
  std::string record_type() const override { return Codec<In>::name(); }
  void call_all(Batch& in) override {
    const auto values = in.values<In>();
    for (std::size_t i = in.position(); i < values.size() && has_room(); in.advance_to(++i)) {
      Held held{{}, in.has_timestamps() ? in.timestamps()[i] : no_timestamp};
      ByteWriter writer(held.bytes);
      Codec<In>::encode(values[i], writer);
      held.bytes.resize(writer.size());
      call(values[i], add(std::move(held)));
    }
  }
  void call_for(const std::string& bytes, std::uint64_t number) override {
    with_record(bytes, [&](const In& record) { call(record, number); });
  }
  std::shared_ptr<void> timed_out([[maybe_unused]] const std::string& bytes) override {
    if constexpr (requires(const In& record) { function_.on_timeout(record); }) {
      return with_record(bytes, [&](const In& record) {
        return std::make_shared<U>(function_.on_timeout(record));
      });
    }
    return nullptr;
  }
  std::size_t heap_bytes(const void* value) const override {
    return detail::heap_bytes_of(*static_cast<const U*>(value));
  }
  void emit(void* value, Output& out) override {
    out.collector<Out>().emit(std::move(*static_cast<U*>(value)));
  }

  template <typename Call>
  static auto with_record(const std::string& bytes, Call&& call) {
    In record{};
    ByteReader reader(bytes);
    HUMMER_ASSERT(Codec<In>::decode(reader, record));
    return call(static_cast<const In&>(record));
  }
  void call(const In& record, std::uint64_t number) {
    function_(record, AsyncResult<U>(std::make_shared<detail::AsyncTicketFor<U>>(board_, number)));
  }

  Function function_;
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
template <typename Function>
auto async_result_type() {
  if constexpr (requires { typename AsyncResultType<decltype(&Function::operator())>::Type; }) {
    return std::type_identity<typename AsyncResultType<decltype(&Function::operator())>::Type>{};
  } else {
    return std::type_identity<void>{};
  }
}
// void: unknown.
template <typename Function>
using AsyncResultOf = typename decltype(async_result_type<Function>())::type;

}  // namespace detail

}  // namespace hummer
