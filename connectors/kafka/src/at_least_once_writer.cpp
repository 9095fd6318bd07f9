#include <hummer/kafka/detail/at_least_once_writer.hpp>

#include "producer.hpp"
#include "sink_state.hpp"

namespace hummer::kafka::detail {

AtLeastOnceWriter::AtLeastOnceWriter(const SinkSettings& settings) : settings_(settings) {}

AtLeastOnceWriter::~AtLeastOnceWriter() = default;

Status AtLeastOnceWriter::restore(OperatorContext&, ByteReader& in) {
  SinkStateHead head;
  HUMMER_TRY(read_head(in, head));
  if (head.epochs == 0) return {};
  return {ErrorCode::invalid_configuration,
          "the state has records that exactly_once has not written yet: stop the job with a "
          "savepoint of the guarantee that it had, and only then change it"};
}

Status AtLeastOnceWriter::open(OperatorContext& context) {
  context_ = &context;
  Result<std::unique_ptr<Producer>> producer = Producer::make(settings_, {});
  if (!producer.ok()) return producer.status();
  producer_ = std::move(*producer);
  return settings_.topic.empty()
             ? Status()
             : producer_->require_topic(settings_.topic, settings_.connection.timeout_ms);
}

Status AtLeastOnceWriter::begin_batch() { return producer_->poll(0); }

bool AtLeastOnceWriter::add(const Message& message) {
  Status status = producer_->produce(outgoing_of(message, settings_.topic));
  if (status.ok()) return true;
  if (status.code() != ErrorCode::limit_exceeded) failure_ = std::move(status);
  return false;
}

OperatorResult AtLeastOnceWriter::blocked() {
  return failure_.ok() ? OperatorResult::blocked : context_->fail(failure_);
}

OperatorResult AtLeastOnceWriter::flush() {
  if (Status status = producer_->poll(0); !status.ok()) return context_->fail(std::move(status));
  return producer_->under_way() == 0 ? OperatorResult::done : OperatorResult::blocked;
}

Status AtLeastOnceWriter::snapshot(ByteWriter& out) {
  write_head(out, {.writers = {}, .epochs = 0});
  return {};
}

Status AtLeastOnceWriter::close() {
  producer_.reset();
  return {};
}

}  // namespace hummer::kafka::detail
