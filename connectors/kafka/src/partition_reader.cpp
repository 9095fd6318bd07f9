#include <hummer/kafka/detail/partition_reader.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include <hummer/detail/key_hash.hpp>
#include <hummer/metrics.hpp>

#include "client.hpp"
#include "discovery.hpp"
#include "source_options.hpp"
#include "topics.hpp"

namespace hummer::kafka::detail {
namespace {

constexpr std::size_t fetched_records = default_batch_records;
constexpr std::uint8_t state_version = 1;
constexpr std::int64_t no_stop = -1;
constexpr std::int64_t idle_ns = 3'600'000'000'000;  // an hour

// The same everywhere and for ever; partitions of a topic are neighbours, and so dealt out evenly.
SplitId split_of(const TopicPartition& partition) {
  return hash_bytes(partition.first.data(), partition.first.size()) +
         static_cast<SplitId>(partition.second);
}

std::string name_of(const std::string& topic, std::int32_t number) {
  return "topic '" + topic + "', partition " + std::to_string(number);
}

// Where a partition is to go on, and to end.
struct Place {
  std::int64_t next = RD_KAFKA_OFFSET_BEGINNING;
  std::int64_t stop = no_stop;
};

}  // namespace

struct PartitionReader::Impl {
  struct OpenPartition : Partition {
    Impl* reader = nullptr;
    QueueHandle queue;
    Place place;
    bool listed = false;  // in `ready` or in `turns`; guarded by the reader's mutex
    // Fetched, in order; `records` are views of them.
    std::vector<rd_kafka_message_t*> messages;
    std::vector<Record> records;
    std::size_t used = 0;
    bool reached_end = false;  // behind what was fetched nothing comes any more
    bool fetched_any = false;
    bool ended = false;
    std::uint64_t ended_after = 0;  // the last barrier before
  };

  explicit Impl(SourceSettings of) : settings(std::move(of)) {}

  Status begin(const std::vector<TopicPartition>& partitions, bool are_new);
  Status drop_unasked(const std::vector<TopicPartition>& found);
  Result<std::vector<Place>> places_of(const std::vector<TopicPartition>& fresh,
                                       bool are_new) const;
  Status set_stops(const std::vector<TopicPartition>& of, std::vector<Place>& places) const;
  Status assign(std::vector<std::unique_ptr<OpenPartition>> added);
  void serve_events();
  void refill(OpenPartition& partition);
  void handle(OpenPartition& partition, const rd_kafka_message_t& event);
  void lost(OpenPartition& partition, const rd_kafka_message_t& event);
  void end(OpenPartition& partition);
  void list(OpenPartition& partition);
  static void forget_messages(OpenPartition& partition);
  static void on_partition_event(rd_kafka_t*, void* partition);
  static void on_client_event(rd_kafka_t*, void* reader);

  const SourceSettings settings;
  OperatorContext* context = nullptr;
  Client client;
  QueueHandle client_queue;
  std::unordered_map<SplitId, std::unique_ptr<OpenPartition>> partitions;
  std::size_t unfinished = 0;
  std::map<TopicPartition, Place> restored;
  std::map<std::uint64_t, std::map<TopicPartition, std::int64_t>> uncommitted;  // by epoch
  std::deque<OpenPartition*> turns;
  Status failure_;
  Counter lost_offsets{"kafka_lost_offsets"};

  // Filled by librdkafka's threads.
  std::mutex mutex;
  std::vector<OpenPartition*> ready;
  std::atomic<bool> client_event{false};

  std::optional<Discovery> discovery;  // asks the client, so it ends first
};

PartitionReader::PartitionReader(SourceSettings settings)
    : impl_(std::make_unique<Impl>(std::move(settings))) {}

PartitionReader::~PartitionReader() { close(); }

Status PartitionReader::open(OperatorContext& context) {
  Impl& impl = *impl_;
  impl.context = &context;
  Result<Client> client = make_client(RD_KAFKA_CONSUMER, impl.settings.connection, source_options(),
                                      fixed_source_options(impl.settings));
  if (!client.ok()) return client.status();
  impl.client = std::move(*client);
  rd_kafka_t* const handle = impl.client.get();
  rd_kafka_poll_set_consumer(handle);
  impl.client_queue.reset(rd_kafka_queue_get_consumer(handle));
  rd_kafka_queue_cb_event_enable(impl.client_queue.get(), &Impl::on_client_event, &impl);

  const Result<std::vector<TopicPartition>> found =
      find_partitions(impl.client, impl.settings, impl.settings.connection.timeout_ms);
  if (!found.ok()) return found.status();
  HUMMER_TRY(impl.drop_unasked(*found));
  HUMMER_TRY(impl.begin(*found, context.restored()));
  if (impl.settings.discovery_interval_ms > 0 && !impl.settings.end.has_value()) {
    impl.discovery.emplace(impl.client, impl.settings, *found, [&context] { context.wake(); });
  }
  return {};
}

// Partitions of topics that are no longer asked for have ended, as far as this job is concerned.
Status PartitionReader::Impl::drop_unasked(const std::vector<TopicPartition>& found) {
  for (const auto& known : restored) {
    const TopicPartition& partition = known.first;
    if (std::find(found.begin(), found.end(), partition) != found.end()) continue;
    const bool topic_is_asked_for =
        std::any_of(found.begin(), found.end(),
                    [&](const TopicPartition& each) { return each.first == partition.first; });
    if (topic_is_asked_for && settings.lost_offsets == LostOffsets::fail) {
      return {
          ErrorCode::not_found,
          name_of(partition.first, partition.second) +
              " is in the job's state and not in Kafka any more: was the topic made anew? To go "
              "on without it, set lost_offsets to earliest"};
    }
    context->splits()->finish(split_of(partition));
  }
  return {};
}

Status PartitionReader::Impl::begin(const std::vector<TopicPartition>& found, bool are_new) {
  std::vector<TopicPartition> fresh;
  std::vector<TopicPartition> endless;
  std::vector<std::unique_ptr<OpenPartition>> added;
  const auto add = [&](const TopicPartition& partition, const Place& place) {
    auto opened = std::make_unique<OpenPartition>();
    opened->split = split_of(partition);
    opened->topic = partition.first;
    opened->number = partition.second;
    opened->reader = this;
    opened->place = place;
    added.push_back(std::move(opened));
  };
  for (const TopicPartition& partition : found) {
    const SplitId id = split_of(partition);
    if (const auto known = partitions.find(id); known != partitions.end()) {
      const OpenPartition& other = *known->second;
      if (other.topic == partition.first && other.number == partition.second) continue;
      return {ErrorCode::limit_exceeded, name_of(partition.first, partition.second) + " and " +
                                             name_of(other.topic, other.number) +
                                             " have one hash: read them by two sources"};
    }
    if (!context->splits()->begin(id)) continue;
    if (const auto known = restored.find(partition); known == restored.end()) {
      fresh.push_back(partition);
    } else if (known->second.stop == no_stop && settings.end.has_value()) {
      endless.push_back(partition);
    } else {
      add(partition, {known->second.next, settings.end ? known->second.stop : no_stop});
    }
  }
  // The state is of a job that was not bounded: this one is.
  std::vector<Place> ending(endless.size());
  HUMMER_TRY(set_stops(endless, ending));
  for (std::size_t i = 0; i < endless.size(); ++i) {
    add(endless[i], {restored.at(endless[i]).next, ending[i].stop});
  }
  const Result<std::vector<Place>> places = places_of(fresh, are_new);
  if (!places.ok()) return places.status();
  for (std::size_t i = 0; i < fresh.size(); ++i) add(fresh[i], (*places)[i]);
  return assign(std::move(added));
}

Result<std::vector<Place>> PartitionReader::Impl::places_of(
    const std::vector<TopicPartition>& fresh, bool are_new) const {
  std::vector<Place> places(fresh.size());
  if (fresh.empty()) return places;
  if (!are_new) {
    const Result<std::vector<std::int64_t>> starts =
        find_offsets(client, fresh, settings.start, settings.connection.timeout_ms);
    if (!starts.ok()) return starts.status();
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if ((*starts)[i] != unset_offset) places[i].next = (*starts)[i];
    }
  }
  if (Status status = set_stops(fresh, places); !status.ok()) return status;
  return places;
}

Status PartitionReader::Impl::set_stops(const std::vector<TopicPartition>& of,
                                        std::vector<Place>& places) const {
  if (of.empty() || !settings.end.has_value()) return {};
  const Result<std::vector<std::int64_t>> stops =
      find_offsets(client, of, *settings.end, settings.connection.timeout_ms);
  if (!stops.ok()) return stops.status();
  const Result<std::vector<std::int64_t>> ends =
      find_offsets(client, of, Offsets::latest(), settings.connection.timeout_ms);
  if (!ends.ok()) return ends.status();
  for (std::size_t i = 0; i < of.size(); ++i) {
    places[i].stop = (*stops)[i] == unset_offset ? (*ends)[i] : (*stops)[i];
  }
  return {};
}

Status PartitionReader::Impl::assign(std::vector<std::unique_ptr<OpenPartition>> added) {
  const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(added.size())));
  for (std::unique_ptr<OpenPartition>& each : added) {
    OpenPartition& partition = *each;
    partitions.emplace(partition.split, std::move(each));
    const Place& place = partition.place;
    if (place.stop != no_stop && place.next >= place.stop) {
      context->splits()->finish(partition.split);
      partition.ended = true;
      partition.ended_after = context->epoch();
      continue;
    }
    ++unfinished;
    partition.queue.reset(
        rd_kafka_queue_get_partition(client.get(), partition.topic.c_str(), partition.number));
    if (!partition.queue) {
      return {ErrorCode::io_error, name_of(partition.topic, partition.number) + " has no queue"};
    }
    // Ahead of the assignment, which would send its records to the consumer's one queue.
    rd_kafka_queue_forward(partition.queue.get(), nullptr);
    rd_kafka_queue_cb_event_enable(partition.queue.get(), &on_partition_event, &partition);
    rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.number)
        ->offset = place.next;
  }
  if (list->cnt == 0) return {};
  const ErrorHandle error(rd_kafka_incremental_assign(client.get(), list.get()));
  return error ? failure(error.get(), "assigning partitions") : Status();
}

void PartitionReader::Impl::on_partition_event(rd_kafka_t*, void* partition) {
  OpenPartition& self = *static_cast<OpenPartition*>(partition);
  Impl& reader = *self.reader;
  {
    const std::lock_guard lock(reader.mutex);
    if (self.listed) return;
    self.listed = true;
    reader.ready.push_back(&self);
  }
  reader.context->wake();
}

void PartitionReader::Impl::on_client_event(rd_kafka_t*, void* reader) {
  static_cast<Impl*>(reader)->client_event = true;
  static_cast<Impl*>(reader)->context->wake();
}

std::size_t PartitionReader::begin_turns() {
  Impl& impl = *impl_;
  noted_.clear();
  impl.serve_events();
  const std::lock_guard lock(impl.mutex);
  impl.turns.insert(impl.turns.end(), impl.ready.begin(), impl.ready.end());
  impl.ready.clear();
  return impl.failure_.ok() ? impl.turns.size() : 0;
}

void PartitionReader::Impl::serve_events() {
  if (client_event.exchange(false)) {
    while (rd_kafka_message_t* const message = rd_kafka_consumer_poll(client.get(), 0)) {
      // Brokers that are away are looked for again. What a partition has to say is in its queue.
      if (message->err == RD_KAFKA_RESP_ERR__FATAL) {
        failure_ = failure(message->err, "the consumer", rd_kafka_message_errstr(message));
      }
      rd_kafka_message_destroy(message);
    }
  }
  if (!discovery.has_value()) return;
  const std::vector<TopicPartition> found = discovery->take();
  if (found.empty()) return;
  if (Status status = begin(found, true); !status.ok()) failure_ = std::move(status);
}

Partition& PartitionReader::next() {
  Impl::OpenPartition& partition = *impl_->turns.front();
  impl_->turns.pop_front();
  // From here on it is told again of what comes.
  const std::lock_guard lock(impl_->mutex);
  partition.listed = false;
  return partition;
}

void PartitionReader::put_back(Partition& partition) {
  impl_->list(static_cast<Impl::OpenPartition&>(partition));
}

// Where its queue has not done so meanwhile.
void PartitionReader::Impl::list(OpenPartition& partition) {
  const std::lock_guard lock(mutex);
  if (partition.listed) return;
  partition.listed = true;
  turns.push_back(&partition);
}

std::span<const Record> PartitionReader::fetch(Partition& base) {
  auto& partition = static_cast<Impl::OpenPartition&>(base);
  if (partition.used == partition.records.size()) impl_->refill(partition);
  return std::span<const Record>(partition.records).subspan(partition.used);
}

void PartitionReader::Impl::refill(OpenPartition& partition) {
  forget_messages(partition);
  if (partition.ended || partition.reached_end) return;
  partition.messages.resize(fetched_records);
  const ssize_t count = rd_kafka_consume_batch_queue(partition.queue.get(), 0,
                                                     partition.messages.data(), fetched_records);
  partition.fetched_any = count > 0;
  std::size_t kept = 0;
  for (ssize_t i = 0; i < count; ++i) {
    rd_kafka_message_t* const message = partition.messages[static_cast<std::size_t>(i)];
    const std::int64_t stop = partition.place.stop;
    const bool is_record = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (is_record && stop != no_stop && message->offset >= stop) partition.reached_end = true;
    if (!is_record && !partition.reached_end) handle(partition, *message);
    if (!is_record || partition.reached_end) {
      rd_kafka_message_destroy(message);
      continue;
    }
    partition.messages[kept++] = message;
    const auto text = [](const void* bytes, std::size_t length) {
      return bytes == nullptr
                 ? std::nullopt
                 : std::optional<std::string_view>({static_cast<const char*>(bytes), length});
    };
    const std::int64_t time_ms = rd_kafka_message_timestamp(message, nullptr);
    partition.records.push_back({.topic = partition.topic,
                                 .partition = partition.number,
                                 .offset = message->offset,
                                 .time_ms = time_ms < 0 ? no_timestamp : time_ms,
                                 .key = text(message->key, message->key_len),
                                 .value = text(message->payload, message->len),
                                 .message = message});
    if (stop != no_stop && message->offset + 1 == stop) partition.reached_end = true;
  }
  partition.messages.resize(kept);
}

void PartitionReader::Impl::handle(OpenPartition& partition, const rd_kafka_message_t& event) {
  switch (event.err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
      // What lies between the last record and the end are marks of transactions, or what was
      // compacted away.
      if (partition.place.stop != no_stop && event.offset >= partition.place.stop) {
        partition.reached_end = true;
      }
      return;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE: return lost(partition, event);
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__FATAL:
      failure_ = failure(event.err, name_of(partition.topic, partition.number),
                         rd_kafka_message_errstr(&event));
      return;
    default: return;  // passing: librdkafka tries again
  }
}

void PartitionReader::Impl::lost(OpenPartition& partition, const rd_kafka_message_t& event) {
  // With what was fetched and not yet handed on, if anything.
  const std::int64_t at =
      partition.records.empty() ? partition.place.next : partition.records.back().offset + 1;
  const std::string what = name_of(partition.topic, partition.number) + ": offset " +
                           std::to_string(at) + " is gone, expired or cut off (" +
                           rd_kafka_message_errstr(&event) + ")";
  if (settings.lost_offsets == LostOffsets::fail) {
    failure_ = {ErrorCode::not_found,
                what + "; lost_offsets = earliest or latest goes on without its records"};
    return;
  }
  const bool to_begin = settings.lost_offsets == LostOffsets::earliest;
  lost_offsets.add();
  std::fprintf(stderr, "hummer: source '%s': %s; it is read on from its %s\n",
               context->name().c_str(), what.c_str(), to_begin ? "beginning" : "end");
  const PartitionList list = list_of({{partition.topic, partition.number}});
  list->elems[0].offset = to_begin ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
  // A seek has no effect on a partition that is no longer fetched.
  ErrorHandle error(rd_kafka_incremental_unassign(client.get(), list.get()));
  if (!error) error.reset(rd_kafka_incremental_assign(client.get(), list.get()));
  if (error) failure_ = failure(error.get(), what);
}

bool PartitionReader::take(Partition& base, std::size_t records) {
  auto& partition = static_cast<Impl::OpenPartition&>(base);
  if (records > 0) {
    partition.used += records;
    partition.place.next = partition.records[partition.used - 1].offset + 1;
  }
  const bool all = partition.used == partition.records.size();
  if (all && partition.reached_end && !partition.ended) {
    impl_->end(partition);
    return true;
  }
  // A queue that gave something may have more, and does not say so again until it was empty.
  if (!all || partition.fetched_any) impl_->list(partition);
  return false;
}

void PartitionReader::Impl::end(OpenPartition& partition) {
  partition.ended = true;
  partition.ended_after = context->epoch();
  --unfinished;
  const PartitionList list = list_of({{partition.topic, partition.number}});
  // Else it would go on to fetch what nobody wants.
  const ErrorHandle error(rd_kafka_incremental_unassign(client.get(), list.get()));
  if (error) failure_ = failure(error.get(), "giving up a partition");
}

void PartitionReader::Impl::forget_messages(OpenPartition& partition) {
  for (rd_kafka_message_t* const message : partition.messages) rd_kafka_message_destroy(message);
  partition.messages.clear();
  partition.records.clear();
  partition.used = 0;
}

OperatorResult PartitionReader::answer() {
  if (!impl_->failure_.ok()) return impl_->context->fail(impl_->failure_);
  if (impl_->unfinished == 0 && impl_->settings.end.has_value()) return OperatorResult::done;
  if (!impl_->turns.empty()) return OperatorResult::more;
  // Whatever comes wakes the task. One that had asked for no call would be called every 10 ms.
  impl_->context->call_at(impl_->context->now() + idle_ns);
  return OperatorResult::blocked;
}

std::string PartitionReader::describe(std::size_t record) const {
  if (record >= noted_.size()) return {};
  const Noted& at = noted_[record];
  return name_of(at.partition->topic, at.partition->number) + ", offset " +
         std::to_string(at.offset);
}

Status PartitionReader::snapshot_split(SplitId id, ByteWriter& out) {
  const auto known = impl_->partitions.find(id);
  if (known == impl_->partitions.end()) {
    return {ErrorCode::internal, "a split of the Kafka source has no partition"};
  }
  const Impl::OpenPartition& partition = *known->second;
  out.put_value(state_version);
  out.put_text(partition.topic);
  out.put_value(partition.number);
  out.put_value(partition.place.next);
  out.put_value(partition.place.stop);
  if (!impl_->settings.group.empty() && partition.place.next >= 0) {
    impl_->uncommitted[impl_->context->epoch()][{partition.topic, partition.number}] =
        partition.place.next;
  }
  return {};
}

Status PartitionReader::restore_split(SplitId id, ByteReader& in) {
  std::uint8_t version = 0;
  std::string_view topic;
  std::int32_t number = 0;
  Place place;
  if (!in.get_value(version) || version != state_version || !in.get_text(topic) ||
      !in.get_value(number) || !in.get_value(place.next) || !in.get_value(place.stop) ||
      split_of({std::string(topic), number}) != id) {
    return {ErrorCode::corrupt_record, "the state of a Kafka source cannot be decoded"};
  }
  impl_->restored[{std::string(topic), number}] = place;
  return {};
}

Status PartitionReader::commit(std::uint64_t epoch) {
  Impl& impl = *impl_;
  if (impl.settings.group.empty()) return {};
  std::map<TopicPartition, std::int64_t> offsets;
  while (!impl.uncommitted.empty() && impl.uncommitted.begin()->first <= epoch) {
    for (const auto& [partition, next] : impl.uncommitted.begin()->second) {
      offsets[partition] = next;
    }
    impl.uncommitted.erase(impl.uncommitted.begin());
  }
  for (const auto& [id, partition] : impl.partitions) {
    if (!partition->ended || epoch <= partition->ended_after || partition->place.next < 0) continue;
    offsets[{partition->topic, partition->number}] = partition->place.next;
  }
  if (offsets.empty()) return {};
  const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& [partition, next] : offsets) {
    rd_kafka_topic_partition_list_add(list.get(), partition.first.c_str(), partition.second)
        ->offset = next;
  }
  // For whoever watches the group: what the job goes on from is in its checkpoint, so nothing waits
  // for the answer, and the next one says it again.
  (void)rd_kafka_commit(impl.client.get(), list.get(), 1);
  return {};
}

void PartitionReader::close() {
  Impl& impl = *impl_;
  impl.discovery.reset();
  if (impl.client.get() == nullptr) return;
  rd_kafka_queue_cb_event_enable(impl.client_queue.get(), nullptr, nullptr);
  for (auto& [id, partition] : impl.partitions) {
    Impl::forget_messages(*partition);
    if (!partition->queue) continue;
    rd_kafka_queue_cb_event_enable(partition->queue.get(), nullptr, nullptr);
    partition->queue.reset();
  }
  impl.client_queue.reset();
  rd_kafka_consumer_close(impl.client.get());
  impl.client.handle.reset();
  impl.turns.clear();
}

}  // namespace hummer::kafka::detail
