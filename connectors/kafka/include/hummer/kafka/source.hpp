// from_topics: a stream of the records of Kafka topics.
//
//   auto orders = kafka::from_topics(env, "orders", settings, [](const kafka::Record& record) {
//     return Order::parse(record.value.value_or(""));
//   });
//
// The function answers a T, or an optional one: nothing for a record to leave out. What it throws
// fails the job, and names topic, partition and offset.
//
// Each partition is a split (hummer/source_splits.hpp): it belongs to one subtask, has its own
// watermark where assign_timestamps follows, and may be held back by an alignment. Partitions are
// the source's own choice, by `assign`: no group of consumers is joined, so nothing is rebalanced.
// Records of a partition keep their order. Only committed ones are read, unless
// options["isolation.level"] says read_uncommitted.
//
// State: the next offset of each partition, and where a bounded one ends. A restart goes on from
// there at any parallelism; partitions that the state does not know are new, and read from their
// beginning.
//
// Errors: at the start, brokers that do not answer within connection.timeout_ms, and topics that
// are not there. Later, brokers that are away are waited for; topics that have gone, and rights
// that are missing, fail the job. Thread: that of the task, one of its own that looks for new
// partitions, and those of librdkafka. Cost: a lock per run of records of a partition, and a copy
// of the text that T holds views of.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <hummer/data_stream.hpp>
#include <hummer/detail/operators/view_check.hpp>
#include <hummer/kafka/detail/partition_reader.hpp>
#include <hummer/kafka/record.hpp>
#include <hummer/kafka/settings.hpp>
#include <hummer/source_function.hpp>

namespace hummer::kafka {

namespace detail {

template <typename Answer>
struct Unwrapped {
  using Type = Answer;
};
template <typename T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};

template <StreamType T, typename Function>
class TopicSource final : public SourceFunction<T> {
 public:
  TopicSource(SourceSettings settings, Function function)
      : reader_(std::move(settings)), function_(std::move(function)) {}

  bool has_splits() const override { return true; }
  Status open(OperatorContext& context) override {
    context_ = &context;
    return reader_.open(context);
  }
  Status snapshot_split(SplitId id, ByteWriter& out) override {
    return reader_.snapshot_split(id, out);
  }
  Status restore_split(SplitId id, ByteReader& in) override {
    return reader_.restore_split(id, in);
  }
  Status commit(std::uint64_t epoch) override { return reader_.commit(epoch); }
  Status close() override {
    reader_.close();
    return {};
  }
  std::string describe_produced(std::size_t record) const override {
    return reader_.describe(record);
  }

  OperatorResult produce(SourceOutput<T>& out) override {
    // Those that have records now, each once: one that is held back takes no turn from the others.
    for (std::size_t turns = reader_.begin_turns(); turns > 0; --turns) {
      Partition& partition = reader_.next();
      if (!out.split(partition.split)) {
        reader_.put_back(partition);
        continue;
      }
      const std::span<const Record> records = reader_.fetch(partition);
      std::size_t taken = 0;
      try {
        for (; taken < records.size() && !out.full(); ++taken) {
          reader_.note(partition, records[taken]);
          emit(function_(records[taken]), out);
        }
      } catch (const std::exception& error) {
        return context_->fail({ErrorCode::user_function_failed,
                               "function of source '" + context_->name() + "' failed at " +
                                   reader_.describe_last() + ": " + error.what()});
      }
      if (reader_.take(partition, taken)) out.finish_split(partition.split);
      if (taken > 0) return OperatorResult::more;
    }
    return reader_.answer();
  }

 private:
  template <typename Answer>
  void emit(Answer&& answer, SourceOutput<T>& out) {
    if constexpr (std::is_same_v<std::remove_cvref_t<Answer>, std::optional<T>> &&
                  !std::is_same_v<std::remove_cvref_t<Answer>, T>) {
      if (answer.has_value())
        emit(*std::move(answer), out);
      else
        reader_.leave_out();
    } else if constexpr (holds_views<T> && std::is_same_v<std::remove_cvref_t<Answer>, T>) {
      hummer::detail::for_each_view(answer, [&](auto& view) { view = out.copy(view); });
      out.emit(std::move(answer));
    } else {
      out.emit(std::forward<Answer>(answer));
    }
  }

  OperatorContext* context_ = nullptr;
  PartitionReader reader_;
  Function function_;
};

}  // namespace detail

template <typename Function>
auto from_topics(StreamExecutionEnvironment& env, const std::string& name,
                 const SourceSettings& settings, Function function) {
  using Answer = std::remove_cvref_t<std::invoke_result_t<Function&, const Record&>>;
  using T = Stored<typename detail::Unwrapped<Answer>::Type>;
  if (const Status status = settings.check(); !status.ok()) {
    env.refuse("from_topics '" + name + "': " + status.message());
  }
  const CapturedValues captured = settings.captured().and_also(captured_values(function));
  auto make = [settings, function]() -> std::unique_ptr<SourceFunction<T>> {
    return std::make_unique<detail::TopicSource<T, Function>>(settings, function);
  };
  return env.from_source<T>(name, Rebuildable<decltype(make)>(std::move(make), captured),
                            settings.end.has_value());
}

}  // namespace hummer::kafka
