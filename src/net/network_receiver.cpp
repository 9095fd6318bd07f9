#include "net/network_receiver.hpp"

#include <utility>

#include <hummer/detail/connector_context.hpp>

#include "runtime/in_flight.hpp"

namespace hummer {

NetworkReceiver::NetworkReceiver(std::unique_ptr<TransportReceiver> transport,
                                 const TypeDescriptor& type, std::string peer,
                                 std::size_t max_record_bytes)
    : transport_(std::move(transport)),
      type_(type),
      peer_(std::move(peer)),
      reader_(type, max_record_bytes) {}

Status NetworkReceiver::open() {
  ConnectorContext& engine = connector_context(context());
  transport_->attach(engine.executor(), engine.wake_event());
  return {};
}

OperatorResult NetworkReceiver::fail(const Status& why) {
  transport_->abandon(why);
  return context().fail(why.with_context("receiving from " + peer_));
}

OperatorResult NetworkReceiver::produce(Output& out) {
  while (true) {
    if (ended_) return transport_->flush() ? OperatorResult::done : OperatorResult::blocked;
    if (!ahead_.empty()) {
      Ahead first = std::move(ahead_.front());
      ahead_.pop_front();
      // It goes round like any other, from channel to channel, and has the same room.
      if (!first.element.batch.empty()) {
        first.element.batch.reserve(out.soft_limit());
        out.batch(0) = std::move(first.element.batch);
      }
      hand_out(first.element.control, out);
      for (; first.credits > 0; --first.credits) transport_->give_back();
      return OperatorResult::more;
    }
    if (barrier_) return OperatorResult::more;  // to be taken first
    if (!failure_.ok()) return fail(failure_);
    if (!holding_) {
      switch (poll_run()) {
        case Step::nothing: return OperatorResult::blocked;
        case Step::barrier: return OperatorResult::more;
        case Step::failed: return fail(failure_);
        case Step::run: break;
      }
    }
    Batch& batch = out.batch(0);
    Control control;
    while (!reader_.finished() && batch.empty() && !control) {
      if (const Status status = read_block(batch, control); !status.ok()) return fail(status);
    }
    if (reader_.finished()) {
      transport_->release();
      holding_ = false;
    }
    hand_out(control, out);
    if (!batch.empty() || control) return OperatorResult::more;
  }
}

NetworkReceiver::Step NetworkReceiver::poll_run() {
  Received received;
  switch (transport_->poll(received)) {
    case Poll::nothing: return Step::nothing;
    case Poll::failed: failure_ = transport_->failure(); return Step::failed;
    case Poll::closed:
      failure_ = {ErrorCode::peer_gone, "the sender closed before the end of its stream"};
      return Step::failed;
    case Poll::barrier:
      barrier_ = OutOfBandBarrier{received.epoch, 0, std::move(received.in_flight)};
      return Step::barrier;
    case Poll::bytes: break;
  }
  context().count_bytes(received.bytes.size());
  reader_.start(std::move(received));
  holding_ = true;
  return Step::run;
}

// A batch and the control behind it, if that has arrived with it; neither: a part of a record.
Status NetworkReceiver::read_block(Batch& batch, Control& control) {
  Result<BlockReader::Item> item = reader_.next(batch, control);
  if (item.ok() && *item == BlockReader::Item::batch) {
    if (!reader_.control_follows()) return {};
    // The batch stays as it is: a control does not touch it.
    item = reader_.next(batch, control);
  }
  if (!item.ok()) return item.status();
  if (control.kind != Control::Kind::end) return {};
  end_read_ = true;
  if (reader_.finished()) return {};
  return {ErrorCode::protocol_error, "there are bytes behind the end of the stream"};
}

void NetworkReceiver::hand_out(const Control& control, Output& out) {
  if (control.kind == Control::Kind::end) {
    ended_ = true;
  } else if (control) {
    out.set_control(control);
  }
}

void NetworkReceiver::read_ahead() {
  while (!barrier_ && !end_read_ && failure_.ok()) {
    if (!holding_ && poll_run() != Step::run) return;
    while (!reader_.finished()) {
      Element element;
      if (Status status = read_block(element.batch, element.control); !status.ok()) {
        failure_ = std::move(status);
        return;
      }
      if (!element.batch.empty() || element.control) ahead_.push_back({std::move(element), 0});
    }
    transport_->keep_credit();
    holding_ = false;
    if (ahead_.empty()) {
      transport_->give_back();
    } else {
      ++ahead_.back().credits;
    }
  }
}

std::optional<OutOfBandBarrier> NetworkReceiver::take_barrier() {
  std::optional<OutOfBandBarrier> taken = std::exchange(barrier_, std::nullopt);
  if (!taken) return taken;
  std::string runs;
  for (const Ahead& ahead : ahead_) append_run(ahead.element.batch, runs);
  taken->in_flight = runs + taken->in_flight;
  return taken;
}

Status NetworkReceiver::close() {
  transport_.reset();
  return {};
}

}  // namespace hummer
