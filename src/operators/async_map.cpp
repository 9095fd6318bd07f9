#include <hummer/detail/operators/async_map.hpp>

#include <algorithm>
#include <mutex>

namespace hummer {
namespace {

constexpr std::uint8_t snapshot_version = 2;

}  // namespace

namespace detail {

struct AsyncOutcome {
  std::uint64_t number;
  std::shared_ptr<void> value;  // null: failed
  std::string reason;
};

class AsyncBoard {
 public:
  explicit AsyncBoard(OperatorContext& context) : context_(&context) {}
  void put(AsyncOutcome outcome) {
    const std::lock_guard lock(mutex_);
    if (context_ == nullptr) return;
    arrived_.push_back(std::move(outcome));
    context_->wake();
  }
  std::vector<AsyncOutcome> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(arrived_, {});
  }
  void close() {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
    arrived_.clear();
  }

 private:
  std::mutex mutex_;
  OperatorContext* context_;
  std::vector<AsyncOutcome> arrived_;
};

AsyncTicket::AsyncTicket(std::shared_ptr<AsyncBoard> board, std::uint64_t number)
    : board_(std::move(board)), number_(number) {}
AsyncTicket::~AsyncTicket() {
  if (claim()) deliver(nullptr, "its AsyncResult was dropped without a result");
}
void AsyncTicket::deliver(std::shared_ptr<void> value, std::string reason) {
  board_->put({number_, std::move(value), std::move(reason)});
}

}  // namespace detail

AsyncMapBase::~AsyncMapBase() {
  if (board_) board_->close();
}

Status AsyncMapBase::restore(ByteReader& in) {
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

std::vector<StateDescription> AsyncMapBase::states() {
  return {{"watermarks", "tuple<i64,i64>"},
          {"under_way", "vector<tuple<i64," + record_type() + ">>"}};
}

Status AsyncMapBase::snapshot(ByteWriter& out) {
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

Status AsyncMapBase::open() {
  if (options_.capacity == 0) {
    return {ErrorCode::invalid_argument, "async_map: capacity must be 1 or more"};
  }
  board_ = std::make_shared<detail::AsyncBoard>(context());
  memory_.open(context().memory(), false);
  HUMMER_TRY(memory_.set(held_bytes_));
  if (restored_received_.known()) {
    received_ = restored_received_.of(context());
    passed_ = restored_passed_.of(context());
  }
  // It waited in the earlier run.
  if (received_ > passed_) marks_.push_back({Control::watermark(received_), waiting_.size()});
  if (!waiting_.empty() || !marks_.empty()) context().call_at(context().now());
  return {};
}

Status AsyncMapBase::close() {
  if (board_) board_->close();
  return {};
}

OperatorResult AsyncMapBase::process(Batch& in, Output& out) {
  for (;;) {
    if (const OperatorResult answer = pump(out); answer != OperatorResult::done) return answer;
    if (in.finished()) return pass_marks(out);
    if (!has_room()) return OperatorResult::blocked;
    call_all(in);
    if (Status room = memory_.set(held_bytes_); !room.ok()) {
      return context().fail(std::move(room));
    }
  }
}

OperatorResult AsyncMapBase::idle(Output& out) { return pump_and_pass(out); }
OperatorResult AsyncMapBase::timer(std::int64_t, Output& out) {
  armed_ = INT64_MAX;
  return pump_and_pass(out);
}
OperatorResult AsyncMapBase::watermark(Timestamp time, Output& out) {
  received_ = std::max(received_, time);
  add_mark(Control::watermark(received_));
  return pump_and_pass(out);
}
OperatorResult AsyncMapBase::inactive(Output& out) {
  add_mark(Control::inactive());
  return pump_and_pass(out);
}
OperatorResult AsyncMapBase::active(Output& out) {
  add_mark(Control::active());
  return pump_and_pass(out);
}
// Until nothing is under way any more.
OperatorResult AsyncMapBase::end(Output& out) {
  if (const OperatorResult answer = pump(out); answer != OperatorResult::done) return answer;
  if (under_way_ + waiting_.size() == 0) return OperatorResult::done;
  // The results that there are go on meanwhile.
  return out.batch().empty() ? OperatorResult::blocked : OperatorResult::more;
}

// With its place among those under way.
std::size_t AsyncMapBase::bytes_of(const Held& held) {
  return sizeof(Pending) + detail::heap_bytes_of(held.bytes);
}

std::uint64_t AsyncMapBase::add(Held record) {
  const std::int64_t deadline =
      options_.timeout_ms > 0 ? context().now() + options_.timeout_ms * 1'000'000 : INT64_MAX;
  held_bytes_ += bytes_of(record);
  pending_.push_back({std::move(record), deadline, nullptr});
  ++under_way_;
  return first_number_ + pending_.size() - 1;
}

void AsyncMapBase::add_mark(const Control& control) {
  // Restored records have their calls, and so their numbers, before any that comes.
  const std::uint64_t before = first_number_ + pending_.size() + waiting_.size();
  const bool replaces = !marks_.empty() && marks_.back().before == before &&
                        marks_.back().control.kind == control.kind;
  if (!replaces) marks_.push_back({{}, before});
  marks_.back().control = control;
}

OperatorResult AsyncMapBase::pump_and_pass(Output& out) {
  const OperatorResult answer = pump(out);
  return answer == OperatorResult::done ? pass_marks(out) : answer;
}

// Behind the results that have just gone: the last of what waits for none any more.
OperatorResult AsyncMapBase::pass_marks(Output& out) {
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
OperatorResult AsyncMapBase::pump(Output& out) {
  for (;;) {
    if (!take_arrived() || !take_timed_out()) return OperatorResult::failed;
    if (Status room = memory_.set(held_bytes_); !room.ok()) {
      return context().fail(std::move(room));
    }
    if (!emit_ready(out)) return OperatorResult::more;
    if (waiting_.empty() || !has_room()) break;
    Held held = std::move(waiting_.front());
    waiting_.pop_front();
    held_bytes_ -= bytes_of(held);  // add() counts it again
    const std::string bytes = held.bytes;
    call_for(bytes, add(std::move(held)));
  }
  (void)memory_.set(held_bytes_);  // less than before
  arm();
  return OperatorResult::done;
}

bool AsyncMapBase::take_arrived() {
  for (detail::AsyncOutcome& outcome : board_->take()) {
    if (outcome.number < first_number_) continue;
    Pending& one = pending_[outcome.number - first_number_];
    if (one.gone || one.value) continue;  // its time was over
    if (!outcome.value) return fail_for(ErrorCode::operator_failed, outcome.reason);
    take_value(one, outcome.number, std::move(outcome.value));
    one.deadline = INT64_MAX;
  }
  return true;
}

bool AsyncMapBase::take_timed_out() {
  if (options_.timeout_ms <= 0) return true;
  const std::int64_t now = context().now();
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    Pending& one = pending_[i];
    if (one.gone || one.value) continue;
    if (one.deadline > now) break;  // in the order of the calls
    std::shared_ptr<void> value = timed_out(one.record.bytes);
    if (value == nullptr) {
      return fail_for(ErrorCode::timed_out,
                      "no result after " + std::to_string(options_.timeout_ms) + " ms");
    }
    take_value(one, first_number_ + i, std::move(value));
  }
  return true;
}

void AsyncMapBase::take_value(Pending& one, std::uint64_t number, std::shared_ptr<void> value) {
  one.value = std::move(value);
  held_bytes_ += heap_bytes(one.value.get());
  ready_.push_back(number);
}

bool AsyncMapBase::fail_for(ErrorCode code, const std::string& reason) {
  (void)context().fail({code, "async_map '" + context().name() + "': " + reason});
  return false;
}

// False: the output is full.
bool AsyncMapBase::emit_ready(Output& out) {
  if (options_.order == AsyncOrder::ordered) {
    ready_.clear();
    while (!pending_.empty() && pending_.front().value) {
      if (out.full()) return false;
      emit_one(pending_.front(), out);
      pop_gone();
    }
    return true;
  }
  while (!ready_.empty()) {
    if (out.full()) return false;
    emit_one(pending_[ready_.front() - first_number_], out);
    ready_.pop_front();
    pop_gone();
  }
  return true;
}

void AsyncMapBase::emit_one(Pending& one, Output& out) {
  const std::size_t before = out.batch().size();
  held_bytes_ -= heap_bytes(one.value.get());
  emit(one.value.get(), out);
  stamp(out.batch(), before, before + 1, one.record.time);
  one.value.reset();
  one.gone = true;
  --under_way_;
}

void AsyncMapBase::pop_gone() {
  while (!pending_.empty() && pending_.front().gone) {
    held_bytes_ -= bytes_of(pending_.front().record);
    pending_.pop_front();
    ++first_number_;
  }
}

void AsyncMapBase::arm() {
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

}  // namespace hummer
