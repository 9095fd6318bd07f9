#include "net/network_receiver.hpp"

#include <utility>

namespace hummer {

NetworkReceiver::NetworkReceiver(std::unique_ptr<TransportReceiver> transport,
                                 const TypeDescriptor& type, std::string peer,
                                 std::size_t max_record_bytes)
    : transport_(std::move(transport)),
      type_(type),
      peer_(std::move(peer)),
      reader_(type, max_record_bytes) {}

Status NetworkReceiver::open() {
  transport_->attach(context().executor(), context().wake_event());
  return {};
}

Answer NetworkReceiver::fail(const Status& why) {
  transport_->abandon(why);
  return context().fail(why.with_context("receiving from " + peer_));
}

Answer NetworkReceiver::produce(Output& out) {
  while (true) {
    if (ended_) return transport_->flush() ? Answer::done : Answer::blocked;
    if (!holding_) {
      Received received;
      switch (transport_->poll(received)) {
        case Poll::nothing: return Answer::blocked;
        case Poll::failed: return fail(transport_->failure());
        case Poll::closed:
          return fail({ErrorCode::peer_gone, "the sender closed before the end of its stream"});
        case Poll::bytes: break;
      }
      context().count_bytes(received.bytes.size());
      reader_.start(std::move(received));
      holding_ = true;
    }
    bool handed_out = false;
    while (!reader_.finished() && !handed_out && !ended_) {
      const Answer answer = read_block(out, handed_out);
      if (answer == Answer::failed) return answer;
    }
    if (reader_.finished()) {
      transport_->release();
      holding_ = false;
    }
    if (handed_out) return Answer::more;
  }
}

Answer NetworkReceiver::read_block(Output& out, bool& handed_out) {
  Control control;
  Result<BlockReader::Item> item = reader_.next(out.batch(0), control);
  if (item.ok() && *item == BlockReader::Item::batch) {
    handed_out = true;
    if (!reader_.control_follows()) return Answer::more;
    // The batch stays as it is: a control does not touch it.
    item = reader_.next(out.batch(0), control);
  }
  if (!item.ok()) return fail(item.status());
  if (*item != BlockReader::Item::control) return Answer::more;
  if (control.kind == Control::Kind::end) {
    if (!reader_.finished()) {
      return fail({ErrorCode::protocol_error, "there are bytes behind the end of the stream"});
    }
    ended_ = true;
  } else {
    out.set_control(control);
    handed_out = true;
  }
  return Answer::more;
}

Status NetworkReceiver::close() {
  transport_.reset();
  return {};
}

}  // namespace hummer
