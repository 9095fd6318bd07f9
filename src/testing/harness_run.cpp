#include "testing/harness_run.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include <hummer/detail/testing/take_snapshot.hpp>

namespace hummer {
namespace {

constexpr int spoiled_byte = 0xDD;
constexpr int calls_without_progress_max = 2000;
// Far more output than expected: it will not end by itself.
constexpr std::size_t records_beyond_expected_max = 20'000;
constexpr std::int64_t pause_nanoseconds = 1'000'000;

}  // namespace

HarnessRun::HarnessRun(const HarnessCase& test, const HarnessSchedule& schedule,
                       std::size_t expansion_max)
    : test_(test),
      schedule_(schedule),
      expansion_max_(expansion_max),
      context_(test.options.place),
      output_(schedule.soft_limit),
      records_max_(records_beyond_expected_max) {
  for (const HarnessPort& port : test.ports) records_max_ += 100 * port.expected.size();
}

void HarnessRun::violate(std::string what) {
  if (violation_.empty()) violation_ = std::move(what);
}

void HarnessRun::fail(const Batch* in, const std::string& what, bool thrown) {
  failed_ = true;
  failure_ = context_.name() + ": ";
  if (thrown && in != nullptr) {
    const std::string position = operator_->describe_position(*in);
    failure_ += position.empty()
                    ? "record " + std::to_string(records_before_batch_ + in->position())
                    : position;
    failure_ += ": ";
  }
  failure_ += what;
}

void HarnessRun::start(const std::vector<std::string>& pieces) {
  const detail::MetricsScope scope(&context_.user_metrics());
  operator_ = test_.factory->make();
  output_ = Output(schedule_.soft_limit);
  operator_->set_context(context_);
  const auto* source = dynamic_cast<const SourceOperator*>(operator_.get());
  if (source != nullptr && source->has_splits()) context_.begin_splits();
  operator_->declare(output_);
  seen_.resize(std::max({seen_.size(), output_.port_count(), test_.ports.size()}));
  for (std::size_t port = 0; port < test_.ports.size(); ++port) {
    const TypeDescriptor* type = test_.ports[port].type;
    if (type == nullptr) continue;
    if (port >= output_.port_count()) {
      return violate("port " + std::to_string(port) + " is not declared");
    }
    if (!(output_.type(port) == *type)) {
      return violate("port " + std::to_string(port) + " holds " + output_.type(port).name +
                     ", expected " + type->name);
    }
  }
  for (const std::string& piece : pieces) {
    ByteReader in(piece);
    context_.set_delta_follows(&piece != &pieces.back());  // all are of one subtask
    const Status status = operator_->restore(in);
    if (!status.ok()) return violate("restore failed: " + status.to_string());
    if (in.left() != 0) {
      violate("restore left " + std::to_string(in.left()) + " bytes of the snapshot");
    }
  }
  const Status status = operator_->open();
  if (!status.ok()) fail(nullptr, status.message(), false);
}

// Calls until `done`, as the chain driver does.
void HarnessRun::drive(const char* name, Batch* in, const Call& call) {
  const detail::MetricsScope scope(&context_.user_metrics());
  int idle_calls = 0;
  while (!stopped()) {
    std::vector<std::size_t> sizes;
    std::size_t before = 0;
    for (std::size_t port = 0; port < output_.port_count(); ++port) {
      sizes.push_back(output_.batch(port).size());
      before += sizes.back();
    }
    const std::uint32_t position = in ? in->position() : 0;
    const bool full = output_.any_full();
    OperatorResult answer = OperatorResult::failed;
    try {
      answer = call();
      if (answer == OperatorResult::failed) {
        if (context_.failure().ok()) violate(std::string(name) + " failed without saying why");
        fail(in, context_.failure().message(), false);
      }
    } catch (const std::exception& thrown) {
      fail(in, thrown.what(), true);
    }
    if (context_.user_metrics().refused()) {
      fail(in, context_.user_metrics().refusal(), false);
    }
    check_call(name, in, position, sizes, answer);
    if (stopped()) return take_output();
    step_snapshot();

    std::size_t after = 0;
    for (std::size_t port = 0; port < output_.port_count(); ++port) {
      after += output_.batch(port).size();
    }
    if (in != nullptr && position + 1 == in->size()) {
      largest_expansion_ = std::max(largest_expansion_, after - before);
    }
    const bool progress = after != before || (in && in->position() != position) || full;
    idle_calls = progress ? 0 : idle_calls + 1;
    if (idle_calls > calls_without_progress_max) {
      return violate(std::string(name) + " answered " +
                     (answer == OperatorResult::more ? "more" : "blocked") + " " +
                     std::to_string(calls_without_progress_max) + " times without progress");
    }
    if (answer == OperatorResult::done) {
      if (in && !in->finished()) {
        violate(std::string(name) + " answered done with " +
                std::to_string(in->size() - in->position()) + " records left");
      }
      if (!schedule_.output_after_more) take_output();
      if (operator_->makes_watermarks()) {
        take_output();
        const Control own = output_.take_control();
        if (own.kind == Control::Kind::watermark) add_watermark(own.time);
      }
      return;
    }
    if (answer == OperatorResult::more || !schedule_.output_after_more) take_output();
    if (answer == OperatorResult::more && operator_->makes_watermarks()) {
      const Control own = output_.take_control();
      if (own.kind == Control::Kind::watermark) add_watermark(own.time);
    }
    if (answer == OperatorResult::blocked || schedule_.pauses) {
      context_.advance(pause_nanoseconds);
      if (in) (void)operator_->describe_position(*in);
    }
  }
}

void HarnessRun::check_call(const char* name, const Batch* in, std::uint32_t position_before,
                            const std::vector<std::size_t>& sizes_before, OperatorResult answer) {
  if (in != nullptr) {
    if (in->position() < position_before) {
      violate(std::string(name) + " moved the input's position back from " +
              std::to_string(position_before) + " to " + std::to_string(in->position()));
    }
    if (in->position() > in->size()) violate(std::string(name) + " went past the input's end");
  }
  const std::size_t expansion = in != nullptr
                                    ? std::max<std::size_t>(expansion_max_, 1)
                                    : std::max<std::size_t>(test_.options.control_expansion_max, 1);
  const std::size_t limit = schedule_.soft_limit - 1 + expansion;
  for (std::size_t port = 0; port < output_.port_count(); ++port) {
    Batch& batch = output_.batch(port);
    // The records are there before they are looked at: the input is still alive.
    if (in != nullptr && batch.type().holds_views) batch.keep_buffers_of(*in);
    const std::size_t before = sizes_before[port];
    const std::size_t allowed = before >= schedule_.soft_limit ? before : limit;
    if (batch.size() > allowed) {
      violate(std::string(name) + " put out " + std::to_string(batch.size() - before) +
              " records on port " + std::to_string(port) + " behind " + std::to_string(before) +
              ", with a limit of " + std::to_string(schedule_.soft_limit) + " and at most " +
              std::to_string(expansion) + " from one record");
    }
    if (batch.has_timestamps() && batch.timestamps().size() != batch.size()) {
      violate(std::string(name) + " left " + std::to_string(batch.size()) + " records with " +
              std::to_string(batch.timestamps().size()) + " timestamps on port " +
              std::to_string(port));
    }
    if (answer != OperatorResult::failed && port < test_.ports.size() &&
        test_.ports[port].check_views) {
      const Status views = test_.ports[port].check_views(batch, before);
      if (!views.ok()) {
        has_stray_views_ = true;
        violate("port " + std::to_string(port) + ": " + views.message());
      }
    }
  }
}

void HarnessRun::interrupt() {
  using Between = HarnessSchedule::Between;
  switch (schedule_.between) {
    case Between::nothing:
    case Between::snapshots_in_steps: return;
    case Between::idle: return drive("idle", nullptr, [&] { return operator_->idle(output_); });
    case Between::flush: return drive("flush", nullptr, [&] { return operator_->flush(output_); });
    case Between::flush_and_snapshot:
      context_.set_epoch(context_.epoch() + 1);
      drive("flush", nullptr, [&] { return operator_->flush(output_); });
      return snapshot_and_restore();
    case Between::snapshot: return snapshot_and_restore();
  }
}

void HarnessRun::snapshot_and_restore() {
  if (stopped()) return;
  const Result<std::string> piece = take_snapshot(*operator_);
  if (!piece.ok()) return violate("snapshot failed: " + piece.status().to_string());
  take_output();
  const Status closed = operator_->close();
  if (!closed.ok()) return violate("close failed: " + closed.to_string());
  start({*piece});
}

// The first part; each call from now on is followed by a step.
void HarnessRun::begin_snapshot() {
  finish_snapshot();
  if (stopped()) return;
  context_.set_may_write_delta(!pieces_.empty());
  context_.set_snapshot_step_bytes(1);
  ByteWriter out(part_);
  const Status status = operator_->snapshot(out);
  if (!status.ok()) return violate("snapshot failed: " + status.to_string());
  part_.resize(out.size());
  snapshot_under_way_ = true;
  step_snapshot();
}

void HarnessRun::step_snapshot() {
  if (!snapshot_under_way_ || stopped()) return;
  std::string bytes;
  ByteWriter out(bytes);
  const OperatorResult answer = operator_->snapshot_rest(out);
  part_.append(out.view());
  if (answer == OperatorResult::more) return;
  if (answer != OperatorResult::done)
    return violate("snapshot_rest answered neither more nor done");
  snapshot_under_way_ = false;
  if (!context_.has_written_delta()) pieces_.clear();
  pieces_.push_back(std::exchange(part_, {}));
}

void HarnessRun::finish_snapshot() {
  while (snapshot_under_way_ && !stopped()) step_snapshot();
}

// A failure: the operator goes on with the elements to come while the rest of its snapshot is
// written. What it puts out then is lost with it, and a new one, restored, gets them again.
void HarnessRun::restore_after_running_ahead(std::size_t element) {
  take_output();
  check_output();
  const auto seen = seen_;
  const std::int64_t now = context_.now();
  const auto timer = context_.timer();
  const Timestamp watermark = watermark_;
  const bool late_input = late_input_;
  const std::size_t records_before_batch = records_before_batch_;
  while (!stopped() && element < test_.elements.size()) element = run_element(element);
  finish_snapshot();
  if (stopped()) return;
  take_output();
  check_output();
  seen_ = seen;
  context_.set_now(now);
  context_.set_timer(timer);
  watermark_ = watermark;
  late_input_ = late_input;
  records_before_batch_ = records_before_batch;
  const Status closed = operator_->close();
  if (!closed.ok()) return violate("close failed: " + closed.to_string());
  start(pieces_);
  pieces_.clear();
}

void HarnessRun::fire_timer() {
  if (!stopped() && context_.take_due_timer()) {
    drive("timer", nullptr, [&] { return operator_->timer(context_.now(), output_); });
  }
}

Batch HarnessRun::make_batch(std::size_t first, std::size_t count, BufferRef& text) const {
  const TypeDescriptor& type =
      test_.elements[first].input == 0 ? *test_.input_type : *test_.second_input_type;
  std::size_t bytes = 0;
  bool timed = false;
  for (std::size_t i = first; i < first + count; ++i) {
    bytes += test_.elements[i].encoded.size();
    timed = timed || test_.elements[i].time != no_timestamp;
  }
  text = BufferRef::allocate(bytes);
  Batch batch(type, static_cast<std::uint32_t>(count));
  char* at = text->data();
  for (std::size_t i = 0; i < count; ++i) {
    const HarnessElement& element = test_.elements[first + i];
    std::memcpy(at, element.encoded.data(), element.encoded.size());
    ByteReader in(std::string_view(at, element.encoded.size()));
    char* value = static_cast<char*>(batch.raw_mutable_values()) + i * type.size_bytes;
    HUMMER_ASSERT(type.decode_values(in, value, 1) == 1);
    if (element.origin != nullptr) reinterpret_cast<TextBlock*>(value)->origin = element.origin;
    batch.set_size(i + 1);
    if (timed) batch.timestamps().push_back(element.time);
    at += element.encoded.size();
  }
  if (type.holds_views) batch.keep(text);
  return batch;
}

// What the operator may no longer look at becomes garbage.
void HarnessRun::spoil(Batch& in, const BufferRef& text) {
  if (in.unique() && in.type().trivial) {
    std::memset(in.raw_mutable_values(), spoiled_byte, in.size() * in.type().size_bytes);
  }
  in.release();
  released_.push_back(text);
}

void HarnessRun::check_unchanged(const Batch& shared, std::size_t first) {
  for (std::size_t i = 0; i < shared.size(); ++i) {
    std::string bytes;
    ByteWriter out(bytes);
    shared.type().encode_values(shared.raw_values(), i, i + 1, out);
    if (out.view() != test_.elements[first + i].encoded) {
      violate("record " + std::to_string(first + i) + " of a shared batch was changed");
    }
  }
}

// One batch from `element` on; returns the element behind it.
std::size_t HarnessRun::process_from(std::size_t element) {
  std::size_t end = element + 1;
  const auto joins = [&](std::size_t next) {
    return next < test_.elements.size() && !schedule_.one_record_per_batch &&
           test_.elements[next].kind == HarnessElement::Kind::record &&
           test_.elements[next].input == test_.elements[element].input &&
           next != schedule_.split_at && !schedule_.interrupts(next);
  };
  while (joins(end)) ++end;
  for (std::size_t i = element; i < end; ++i) {
    const Timestamp time = test_.elements[i].time;
    if (time != no_timestamp && time < watermark_) late_input_ = true;
  }
  BufferRef text;
  Batch in = make_batch(element, end - element, text);
  Batch other;
  if (schedule_.shared_input) other = in.share();
  const int input = test_.elements[element].input;
  drive("process", &in, [&] { return operator_->process_input(input, in, output_); });
  if (other.has_storage()) {
    check_unchanged(other, element);
    in.release();
    in = std::move(other);
  }
  spoil(in, text);
  records_before_batch_ += end - element;
  return end;
}

void HarnessRun::watermark(Timestamp time) {
  drive("watermark", nullptr, [&] { return operator_->watermark(time, output_); });
  take_output();
  if (!stopped() && !operator_->makes_watermarks()) add_watermark(time);
}

void HarnessRun::take_output() {
  for (std::size_t port = 0; port < output_.port_count(); ++port) {
    Batch& batch = output_.batch(port);
    if (batch.empty()) continue;
    records_seen_ += batch.size();
    taken_.push_back({port, Batch()});
    taken_.back().batch = std::move(batch);
  }
  if (records_seen_ > records_max_) {
    violate("stopped after " + std::to_string(records_seen_) + " records of output");
  }
}

// Reads the output taken, after the input behind it has gone.
void HarnessRun::check_output() {
  if (has_stray_views_) return taken_.clear();
  for (const BufferRef& buffer : released_) {
    if (buffer->unique()) std::memset(buffer->data(), spoiled_byte, buffer->size());
  }
  for (Taken& taken : taken_) {
    const Batch& batch = taken.batch;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::string bytes;
      ByteWriter out(bytes);
      batch.type().encode_values(batch.raw_values(), i, i + 1, out);
      const Timestamp time = batch.has_timestamps() ? batch.timestamps()[i] : no_timestamp;
      if (time != no_timestamp && time < watermark_ && !late_input_) {
        violate("a record with time " + std::to_string(time) + " came out behind watermark " +
                std::to_string(watermark_));
      }
      seen_[taken.port].push_back({false, std::string(out.view()), time});
    }
    if (test_.input_type == nullptr) continue;
    for (const BufferRef& buffer : batch.kept_buffers()) {
      if (buffer->unique()) std::memset(buffer->data(), spoiled_byte, buffer->size());
    }
  }
  taken_.clear();
}

void HarnessRun::add_watermark(Timestamp time) {
  check_output();
  watermark_ = std::max(watermark_, time);
  for (auto& port : seen_) port.push_back({true, {}, time});
}

std::size_t HarnessRun::run_element(std::size_t element) {
  using Kind = HarnessElement::Kind;
  const HarnessElement& next = test_.elements[element];
  context_.advance(test_.options.element_nanoseconds);
  if (next.kind == Kind::record) {
    element = process_from(element);
  } else {
    if (next.kind == Kind::watermark) watermark(next.time);
    if (next.kind == Kind::idle) {
      drive("idle", nullptr, [&] { return operator_->idle(output_); });
    }
    if (next.kind == Kind::inactive) {
      drive("inactive", nullptr, [&] { return operator_->inactive(output_); });
    }
    ++element;
  }
  if (schedule_.pauses) context_.advance(pause_nanoseconds);
  fire_timer();
  if (!schedule_.output_after_more) check_output();
  return element;
}

std::string HarnessRun::run_operator() {
  if (test_.effects.reset) test_.effects.reset();
  start({});
  const bool in_steps = schedule_.between == HarnessSchedule::Between::snapshots_in_steps;
  bool restored = false;
  std::size_t element = 0;
  while (!stopped() && element < test_.elements.size()) {
    if (schedule_.interrupts(element)) interrupt();
    if (in_steps && !restored && !stopped()) begin_snapshot();
    if (in_steps && !restored && element >= schedule_.between_at) {
      restore_after_running_ahead(element);
      restored = true;
    }
    if (stopped()) break;
    element = run_element(element);
  }
  if (!stopped() && schedule_.interrupts(element)) interrupt();
  finish_snapshot();
  drive("end", nullptr, [&] { return operator_->end(output_); });
  finish();
  return violation_;
}

std::string HarnessRun::run_source() {
  start({});
  auto* source = dynamic_cast<SourceOperator*>(operator_.get());
  int calls_without_output = 0;
  for (std::size_t call = 0; !stopped() && records_seen_ < test_.options.records_max; ++call) {
    if (call > 0 && schedule_.interrupts(call)) {
      interrupt();
      source = dynamic_cast<SourceOperator*>(operator_.get());
    }
    if (source == nullptr) violate("not a source");
    if (stopped()) break;
    const std::vector<std::size_t> sizes(output_.port_count(), 0);
    OperatorResult answer = OperatorResult::failed;
    if (context_.splits() != nullptr) context_.splits()->apply_changes();
    try {
      answer = source->produce(output_);
      if (answer == OperatorResult::failed) fail(nullptr, context_.failure().message(), false);
    } catch (const std::exception& thrown) {
      fail(nullptr, thrown.what(), false);
    }
    check_call("produce", nullptr, 0, sizes, answer);
    const std::size_t before = records_seen_;
    take_output();
    const Control control = output_.take_control();
    if (control.kind == Control::Kind::watermark) add_watermark(control.time);
    check_output();
    if (stopped() || answer == OperatorResult::done) break;
    calls_without_output = records_seen_ != before ? 0 : calls_without_output + 1;
    if (calls_without_output > calls_without_progress_max) {
      violate("produce gives nothing for ever");
    }
    if (answer == OperatorResult::blocked || schedule_.pauses) context_.advance(pause_nanoseconds);
    if (answer == OperatorResult::blocked && context_.timer()) {
      context_.set_now(std::max(context_.now(), *context_.timer()));
    }
    fire_timer();
  }
  finish();
  return violation_;
}

void HarnessRun::finish() {
  take_output();
  if (operator_ != nullptr && violation_.empty()) {
    const Status closed = operator_->close();
    if (!closed.ok() && !failed_) violate("close failed: " + closed.to_string());
    for (std::size_t port = 0; port < output_.port_count(); ++port) {
      if (!output_.batch(port).empty()) {
        violate("a record was put out on port " + std::to_string(port) + " after the end");
      }
    }
  }
  operator_.reset();
  check_output();
  if (records_seen_ > records_max_) {  // the first difference says more
    const std::string ended = std::exchange(violation_, {});
    for (std::size_t port = 0; port < seen_.size(); ++port) compare_port(port);
    violation_ = ended + "; " + violation_;
  }
  if (!violation_.empty()) return;
  if (failed_ && test_.expected_failure.empty()) return violate("failed: " + failure_);
  if (!test_.expected_failure.empty()) {
    if (!failed_) return violate("did not fail; expected \"" + test_.expected_failure + "\"");
    if (failure_.find(test_.expected_failure) == std::string::npos) {
      return violate("failed with \"" + failure_ + "\", expected \"" + test_.expected_failure +
                     "\"");
    }
  }
  for (std::size_t port = 0; port < seen_.size() && violation_.empty(); ++port) compare_port(port);
  if (violation_.empty()) compare_effects();
}

}  // namespace hummer
