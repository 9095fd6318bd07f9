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
// the spill directory), and written in one transaction with a note of the epoch, in the topic
// NAME-progress, which is committed when the checkpoint is complete everywhere. After any crash the
// next attempt fences the producer of the one before, which ends what that had begun, and reads the
// note: what it does not have is written, the rest has been. So no record is lost or seen twice by
// readers of committed records. Records become visible a checkpoint later than they were made; in a
// job without checkpoints, at the end. A thread of the sink's own sends what has been gathered
// while more comes, and is waited for where it is behind; a barrier waits until the epoch before it
// is written.
//
// exactly_once_open: records are sent as they come, into a transaction that is prepared at the
// barrier, named in the checkpoint, and committed when that is complete. After a crash the next
// attempt commits what the checkpoint names, by a connection of its own, and ends all else. Nothing
// of a record is in the checkpoint; but a transaction of a complete checkpoint that Kafka has
// aborted, since the job was down for longer than transaction.timeout.ms, is lost: see
// SinkSettings::lost_transactions. Each subtask has four producers, as a rule.
//
// Where a record goes whose message names no partition is a partitioner's choice: see
// partitioner.hpp.
//
// A full queue of librdkafka blocks the sink, and with it the job. Brokers that are away are waited
// for: a record for message.timeout.ms (5 minutes, unless it is set); then the job fails.
//
// Records of one subtask keep their order within a partition. Errors: brokers that do not answer at
// the start, a topic that is not there, a record that the broker refuses, and a producer that was
// fenced: another job writes with the same transactional_id. Ownership: one writer per subtask.
// Thread: that of the task, one of its own that waits for the brokers, and those of librdkafka.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/data_stream.hpp>
#include <hummer/kafka/detail/at_least_once_writer.hpp>
#include <hummer/kafka/detail/open_transactions_writer.hpp>
#include <hummer/kafka/detail/partition_counts.hpp>
#include <hummer/kafka/detail/write_ahead_writer.hpp>
#include <hummer/kafka/partitioner.hpp>
#include <hummer/kafka/record.hpp>
#include <hummer/kafka/settings.hpp>

namespace hummer::kafka {

namespace detail {

// What a record's message and its partition are made by.
template <typename Function, typename Partitioner>
struct MessageMaker {
  Function function;
  Partitioner partitioner;
};

template <StreamType T, typename Maker, typename Writer>
class TopicSink final : public Operator {
 public:
  TopicSink(const SinkSettings& settings, Maker maker, bool commits_at_end)
      : writer_(settings),
        maker_(std::move(maker)),
        partitions_(settings.connection),
        topic_(settings.topic),
        commits_at_end_(commits_at_end) {}

  void declare(Output&) const override {}
  bool can_skip_record() const override { return true; }
  bool takes_all_pieces() const override { return Writer::takes_all_pieces; }
  Status restore(ByteReader& in) override { return writer_.restore(context(), in); }
  Status open() override { return writer_.open(context()); }

  OperatorResult process(Batch& in, Output&) override {
    const auto values = in.values<T>();
    std::size_t taken = in.position();
    Status status = writer_.begin_batch();
    try {
      for (; status.ok() && taken < values.size(); ++taken) {
        message_.clear();
        maker_.function(values[taken], message_);
        if constexpr (!std::is_same_v<decltype(maker_.partitioner), ByKey>) {
          if (status = choose_partition(values[taken]); !status.ok()) break;
        }
        if (!writer_.add(message_)) break;
      }
    } catch (...) {
      in.advance_to(taken);
      throw;
    }
    in.advance_to(taken);
    if (!status.ok()) return context().fail(std::move(status));
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
  Status choose_partition(const T& value) {
    const std::string& topic = message_.topic().empty() ? topic_ : message_.topic();
    if (message_.partition() >= 0 || topic.empty()) return {};
    const Result<std::int32_t> count = partitions_.of(topic);
    if (!count.ok()) return count.status();
    const std::int32_t chosen = maker_.partitioner(value, *count);
    if (chosen < 0 || chosen >= *count) {
      return {ErrorCode::user_function_failed, "the partitioner of sink '" + context().name() +
                                                   "' chose partition " + std::to_string(chosen) +
                                                   " of topic '" + topic + "', which has " +
                                                   std::to_string(*count)};
    }
    message_.partition(chosen);
    return {};
  }

  Writer writer_;
  Maker maker_;
  PartitionCounts partitions_;
  Message message_;
  const std::string topic_;
  const bool commits_at_end_;
};

}  // namespace detail

template <typename T, typename Function, typename Partitioner = ByKey>
DataStream<T> to_topics(const DataStream<T>& stream, const std::string& name,
                        const SinkSettings& settings, Function function,
                        Partitioner partitioner = {}) {
  static_assert(std::is_invocable_v<Function&, const T&, Message&>,
                "to_topics: the function takes (const T& record, hummer::kafka::Message& message)");
  static_assert(std::is_same_v<Partitioner, ByKey> ||
                    std::is_invocable_r_v<std::int32_t, Partitioner&, const T&, std::int32_t>,
                "to_topics: a partitioner takes (const T& record, std::int32_t partitions) and "
                "answers the partition's number");
  if (const Status status = settings.check(); !status.ok()) {
    stream.environment().refuse("to_topics '" + name + "': " + status.message());
  }
  using Maker = detail::MessageMaker<Function, Partitioner>;
  const Maker maker{function, partitioner};
  const auto make = [settings, maker](const Plan& plan) -> std::unique_ptr<Operator> {
    switch (settings.guarantee) {
      case Guarantee::at_least_once:
        return std::make_unique<detail::TopicSink<T, Maker, detail::AtLeastOnceWriter>>(
            settings, maker, false);
      case Guarantee::exactly_once_open:
        return std::make_unique<detail::TopicSink<T, Maker, detail::OpenTransactionsWriter>>(
            settings, maker, !plan.checkpoints);
      case Guarantee::exactly_once: break;
    }
    return std::make_unique<detail::TopicSink<T, Maker, detail::WriteAheadWriter>>(
        settings, maker, !plan.checkpoints);
  };
  return stream.add_sink(name, make_planned_factory(make),
                         settings.captured()
                             .and_also(captured_values(function))
                             .and_also(captured_values(partitioner)));
}

}  // namespace hummer::kafka
