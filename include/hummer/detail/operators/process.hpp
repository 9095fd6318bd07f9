// ProcessOperator: the general operator of the user's own.
//
//   struct SplitLate {
//     void process(const Order& order, ProcessOutput<Bill>& out) {
//       if (out.time() < out.watermark()) out.side(late, order);
//       else out.emit(bill(order));
//     }
//     void end(ProcessOutput<Bill>& out) { ... }
//   };
//
// `process` (or operator(), so that a lambda will do) is required; with two inputs, of connected
// streams, process_first and process_second. The other hooks
// are called if they are there, and mean what they mean in operator.hpp:
//
//   open(OperatorContext&)                        void or Status
//   watermark(Timestamp, ProcessOutput<Out>&)     void or OperatorResult
//   idle, flush, end(ProcessOutput<Out>&)         void or OperatorResult
//   timer(std::int64_t now, ProcessOutput<Out>&)  void or OperatorResult
//   snapshot(ByteWriter&), restore(ByteReader&)   void or Status
//   close()                                       void or Status
//
// Each piece that snapshot wrote goes to one new subtask: at the same parallelism to its own. The
// watermark that out.watermark() answers is kept beside them: see
// hummer/detail/state/restored_watermark.hpp.
//
// A hook that may put out many records answers `more` when out.full(), and is
// called again; one that returns void exceeds the output limit instead.
// A member `SideOutputPorts side_outputs() const` lists the side outputs; the
// constructor's list serves objects that have none.
//
// Errors: what the function throws, with `in` at its record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <hummer/detail/operators/record_text.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/process_output.hpp>

namespace hummer {

// What the user's object lists itself.
template <typename User>
SideOutputPorts side_outputs_of(const User& user) {
  if constexpr (requires { user.side_outputs(); }) {
    return user.side_outputs();
  } else {
    return {};
  }
}

// One input, or two.
template <StreamType Out, typename User, StreamType... In>
class ProcessOperator final : public Operator {
  using Emit = ProcessOutput<Out>;
  static_assert(sizeof...(In) == 1 || sizeof...(In) == 2);

 public:
  explicit ProcessOperator(User user) : user_(std::move(user)), sides_(side_outputs_of(user_)) {}
  ProcessOperator(User user, SideOutputPorts sides)
      : user_(std::move(user)), sides_(std::move(sides)) {}

  void declare(Output& out) const override {
    out.add_port(type_of<Out>());
    for (const SideOutputPort& side : sides_) out.add_port(*side.type);
  }

  bool can_skip_record() const override { return true; }
  bool takes_all_pieces() const override { return true; }
  Status restore(ByteReader& in) override {
    std::uint8_t known = 0;
    Timestamp time = 0;
    if (!in.get_value(known) || !in.get_value(time)) {
      return {ErrorCode::corrupt_record, "the state of a process operator is cut short"};
    }
    restored_watermark_.add(time);
    if constexpr (requires(User& user) { user.restore(in); }) {
      if (restored_watermark_.last_falls_to(context())) {
        return as_status([&] { return user_.restore(in); });
      }
    }
    return {};
  }
  std::vector<StateDescription> states() override {
    std::vector<StateDescription> all{{"watermark", "i64"}};
    if constexpr (requires(User& user, ByteWriter& out) { user.snapshot(out); }) {
      all.push_back({"function", "bytes"});  // what is in them, it alone knows
    }
    return all;
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(std::uint8_t{1});  // version
    out.put_value(watermark_);
    if constexpr (requires(User& user) { user.snapshot(out); }) {
      return as_status([&] { return user_.snapshot(out); });
    }
    return {};
  }
  Status open() override {
    if (restored_watermark_.known()) watermark_ = restored_watermark_.of(context());
    if constexpr (requires(User& user, OperatorContext& place) { user.open(place); }) {
      return as_status([&] { return user_.open(context()); });
    }
    return {};
  }
  Status close() override {
    if constexpr (requires(User& user) { user.close(); }) {
      return as_status([&] { return user_.close(); });
    }
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override { return process_input(0, in, out); }
  OperatorResult process_input(int input, Batch& in, Output& out) override {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      OperatorResult answer = OperatorResult::failed;
      (void)((static_cast<int>(I) == input && (answer = take<I, In>(in, out), true)) || ...);
      return answer;
    }(std::index_sequence_for<In...>{});
  }

  OperatorResult watermark(Timestamp time, Output& out) override {
    OperatorResult answer = OperatorResult::done;
    if constexpr (requires(User& user, Emit& emit) { user.watermark(time, emit); }) {
      answer = hook(out, [&](Emit& emit) { return user_.watermark(time, emit); });
    }
    if (answer == OperatorResult::done) watermark_ = std::max(watermark_, time);
    return answer;
  }
  OperatorResult idle(Output& out) override {
    if constexpr (requires(User& user, Emit& emit) { user.idle(emit); }) {
      return hook(out, [&](Emit& emit) { return user_.idle(emit); });
    }
    return OperatorResult::done;
  }
  OperatorResult timer(std::int64_t now, Output& out) override {
    if constexpr (requires(User& user, Emit& emit) { user.timer(now, emit); }) {
      return hook(out, [&](Emit& emit) { return user_.timer(now, emit); });
    }
    return OperatorResult::done;
  }
  OperatorResult flush(Output& out) override {
    if constexpr (requires(User& user, Emit& emit) { user.flush(emit); }) {
      return hook(out, [&](Emit& emit) { return user_.flush(emit); });
    }
    return OperatorResult::done;
  }
  OperatorResult end(Output& out) override {
    if constexpr (requires(User& user, Emit& emit) { user.end(emit); }) {
      return hook(out, [&](Emit& emit) { return user_.end(emit); });
    }
    return OperatorResult::done;
  }

 private:
  template <std::size_t I, typename T>
  OperatorResult take(Batch& in, Output& out) {
    const std::size_t used = out.batch().size();
    const auto values = in.values<T>();
    std::size_t taken = in.position();
    try {
      Emit emit(out, sides_, watermark_);
      for (; taken < values.size() && !emit.full(); ++taken) {
        if (in.has_timestamps()) emit.set_time(in.timestamps()[taken]);
        call<I>(values[taken], emit);
      }
    } catch (...) {
      in.advance_to(taken);
      copy_record_text<T, Out>(in, out.batch(), used);
      throw;
    }
    in.advance_to(taken);
    copy_record_text<T, Out>(in, out.batch(), used);
    if (const Status views = check_new_views<Out>(context(), in, out.batch(), used); !views.ok()) {
      return context().fail(views);
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }
  template <std::size_t I, typename T>
  void call(const T& record, Emit& emit) {
    if constexpr (sizeof...(In) == 1) {
      if constexpr (requires { user_.process(record, emit); }) {
        user_.process(record, emit);
      } else {
        user_(record, emit);
      }
    } else if constexpr (I == 0) {
      user_.process_first(record, emit);
    } else {
      user_.process_second(record, emit);
    }
  }

  template <typename Call>
  OperatorResult hook(Output& out, Call&& call) {
    if (out.any_full()) return OperatorResult::more;
    const std::size_t used = out.batch().size();
    OperatorResult answer = OperatorResult::done;
    {
      Emit emit(out, sides_, watermark_);
      if constexpr (std::is_same_v<decltype(call(emit)), OperatorResult>) {
        answer = call(emit);
      } else {
        call(emit);
      }
    }
    if (const Status views = check_new_views<Out>(context(), Batch(), out.batch(), used);
        !views.ok()) {
      return context().fail(views);
    }
    return answer;
  }
  template <typename Call>
  static Status as_status(Call&& call) {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return {};
    } else {
      return call();
    }
  }

  User user_;
  SideOutputPorts sides_;
  RestoredWatermark restored_watermark_;
  Timestamp watermark_ = no_timestamp;
};

}  // namespace hummer
