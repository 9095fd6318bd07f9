// to_topics: writes a stream to Kafka.
//
//   kafka::to_topics(totals, "totals", settings, [](const Total& total, kafka::Message& message) {
//     message.key(total.word);
//     message.value(std::to_string(total.count));
//   });
//
// at_least_once: records are sent as they come; at a barrier the checkpoint waits until the brokers
// have them all.
//
// exactly_once: records are kept with their checkpoint (in memory, beyond `held_bytes` in a file in
// the spill directory), and written when it is complete everywhere: in one transaction with a note
// of the epoch, in the topic NAME-progress. After any crash the next attempt fences the producer of
// the one before, which ends what that had begun, and reads the note: what it does not have is
// written, the rest has been. So no record is lost or seen twice by readers of committed records,
// and none waits for the end of an abandoned transaction. Records become visible a checkpoint later
// than they were made; in a job without checkpoints, at the end. The subtask's slot is held while
// an epoch is written.
//
// A full queue of librdkafka blocks the sink, and with it the job. Brokers that are away are waited
// for: a record for message.timeout.ms (5 minutes, unless it is set); then the job fails.
//
// Records of one subtask keep their order within a partition. Errors: brokers that do not answer at
// the start, a topic that is not there, a record that the broker refuses, and a producer that was
// fenced: another job writes with the same transactional_id. Ownership: one writer per subtask.
// Thread: that of the task, and those of librdkafka.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/data_stream.hpp>
#include <hummer/kafka/detail/at_least_once_writer.hpp>
#include <hummer/kafka/detail/open_transactions_writer.hpp>
#include <hummer/kafka/detail/write_ahead_writer.hpp>
#include <hummer/kafka/record.hpp>
#include <hummer/kafka/settings.hpp>

namespace hummer::kafka {

namespace detail {

template <StreamType T, typename Function, typename Writer>
class TopicSink final : public Operator {
 public:
  TopicSink(const SinkSettings& settings, Function function, bool commits_at_end)
      : writer_(settings), function_(std::move(function)), commits_at_end_(commits_at_end) {}

  void declare(Output&) const override {}
  bool can_skip_record() const override { return true; }
  bool takes_all_pieces() const override { return Writer::takes_all_pieces; }
  Status restore(ByteReader& in) override { return writer_.restore(context(), in); }
  Status open() override { return writer_.open(context()); }

  OperatorResult process(Batch& in, Output&) override {
    const auto values = in.values<T>();
    std::size_t taken = in.position();
    if (Status status = writer_.begin_batch(); !status.ok()) return context().fail(status);
    try {
      for (; taken < values.size(); ++taken) {
        message_.clear();
        function_(values[taken], message_);
        if (!writer_.add(message_)) break;
      }
    } catch (...) {
      in.advance_to(taken);
      throw;
    }
    in.advance_to(taken);
    return taken == values.size() ? OperatorResult::done : writer_.blocked();
  }
  OperatorResult flush(Output&) override { return writer_.flush(); }
  OperatorResult end(Output&) override {
    const OperatorResult answer = writer_.end();
    if (answer != OperatorResult::done || !commits_at_end_) return answer;
    Status status = writer_.commit(UINT64_MAX);
    return status.ok() ? OperatorResult::done : context().fail(std::move(status));
  }
  std::vector<StateDescription> states() override { return Writer::states(); }
  Status snapshot(ByteWriter& out) override { return writer_.snapshot(out); }
  OperatorResult snapshot_rest(ByteWriter& out) override { return writer_.snapshot_rest(out); }
  Status commit(std::uint64_t epoch) override { return writer_.commit(epoch); }
  Status close() override { return writer_.close(); }

 private:
  Writer writer_;
  Function function_;
  Message message_;
  const bool commits_at_end_;
};

}  // namespace detail

template <typename T, typename Function>
DataStream<T> to_topics(const DataStream<T>& stream, const std::string& name,
                        const SinkSettings& settings, Function function) {
  static_assert(std::is_invocable_v<Function&, const T&, Message&>,
                "to_topics: the function takes (const T& record, hummer::kafka::Message& message)");
  if (const Status status = settings.check(); !status.ok()) {
    stream.environment().refuse("to_topics '" + name + "': " + status.message());
  }
  const auto make = [settings, function](const Plan& plan) -> std::unique_ptr<Operator> {
    if (settings.guarantee == Guarantee::at_least_once) {
      return std::make_unique<detail::TopicSink<T, Function, detail::AtLeastOnceWriter>>(
          settings, function, false);
    }
    if (settings.guarantee == Guarantee::exactly_once_open) {
      return std::make_unique<detail::TopicSink<T, Function, detail::OpenTransactionsWriter>>(
          settings, function, !plan.checkpoints);
    }
    return std::make_unique<detail::TopicSink<T, Function, detail::WriteAheadWriter>>(
        settings, function, !plan.checkpoints);
  };
  return stream.add_sink(name, make_planned_factory(make),
                         settings.captured().and_also(captured_values(function)));
}

}  // namespace hummer::kafka
