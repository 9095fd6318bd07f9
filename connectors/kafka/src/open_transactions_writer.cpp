#include <hummer/kafka/detail/open_transactions_writer.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <hummer/metrics.hpp>

#include "background.hpp"
#include "epoch_transaction.hpp"
#include "transaction_ids.hpp"

namespace hummer::kafka::detail {

using Transaction = std::unique_ptr<EpochTransaction>;

struct OpenTransactionsWriter::Impl {
  // One of a complete or a coming checkpoint.
  struct Pending {
    PreparedTransaction prepared;
    bool is_committing = false;
  };
  // What the thread has done.
  struct Concluded {
    std::uint32_t number = 0;
    Outcome outcome = Outcome::committed;
    bool producer_is_clear = true;
  };

  explicit Impl(const SinkSettings& of) : settings(of), coordinator(of.connection) {}

  std::uint32_t self() const { return static_cast<std::uint32_t>(context->subtask()); }
  bool owns(std::uint32_t writer) const {
    return static_cast<int>(writer) % context->parallelism() == context->subtask();
  }
  Status look_ahead();
  Status fence_earlier();
  Status fence_writer(std::uint32_t writer, std::uint32_t least, bool& any);
  Status conclude_restored();
  // Whether there is a transaction to write to; else the thread makes one.
  bool has_current();
  void ask_for_spare();
  OperatorResult prepare(std::uint64_t epoch);
  Status conclude_one(const PreparedTransaction& of, EpochTransaction* live);
  Status take_news();
  Status lost(const PreparedTransaction& of);

  const SinkSettings settings;
  OperatorContext* context = nullptr;
  Coordinator coordinator;  // of the thread, once there is one
  TransactionIds ids;
  std::map<std::uint32_t, std::uint32_t> restored_ids;  // how many, by writer
  std::vector<Pending> pending;                         // in the order in which they were prepared
  Transaction current;
  Transaction spare;
  bool asked_for_spare = false;
  bool preparing = false;
  std::map<std::uint32_t, Transaction> others;  // by number, of those that are pending or rest
  std::uint64_t last_barrier = 0;
  bool has_ended = false;
  Status failure;
  Counter lost_transactions{"kafka_lost_transactions"};

  std::atomic<bool> is_closing{false};
  // What the thread leaves for the task.
  std::mutex mutex;
  Transaction made;
  std::optional<PreparedTransaction> prepared;
  std::vector<Concluded> concluded;

  std::optional<Background> background;
};

OpenTransactionsWriter::OpenTransactionsWriter(const SinkSettings& settings)
    : impl_(std::make_unique<Impl>(settings)) {}

OpenTransactionsWriter::~OpenTransactionsWriter() = default;

Status OpenTransactionsWriter::restore(OperatorContext& context, ByteReader& in) {
  Impl& impl = *impl_;
  impl.context = &context;
  OpenSinkState state;
  HUMMER_TRY(read_state(in, state));
  if (state.transactional_id != impl.settings.transactional_id && !state.prepared.empty()) {
    return {ErrorCode::invalid_configuration,
            "the state has transactions of the transactional_id '" + state.transactional_id +
                "', and the sink's is '" + impl.settings.transactional_id +
                "' now: let the job go on under the earlier one"};
  }
  std::uint32_t& ids = impl.restored_ids[state.writer];
  ids = std::max(ids, state.ids);
  for (PreparedTransaction& each : state.prepared) {
    if (impl.owns(each.writer)) impl.pending.push_back({.prepared = std::move(each)});
  }
  return {};
}

Status OpenTransactionsWriter::open(OperatorContext& context) {
  Impl& impl = *impl_;
  impl.context = &context;
  impl.last_barrier = context.epoch();
  for (const Impl::Pending& each : impl.pending) {
    if (each.prepared.writer == impl.self()) impl.ids.keep(each.prepared.number);
  }
  HUMMER_TRY(impl.look_ahead());
  Result<Transaction> first =
      EpochTransaction::make(impl.settings, impl.self(), impl.ids.take(), impl.coordinator,
                             impl.settings.connection.timeout_ms);
  if (!first.ok()) return first.status();
  impl.current = std::move(*first);
  HUMMER_TRY(impl.fence_earlier());
  HUMMER_TRY(impl.conclude_restored());
  impl.background.emplace([&context] { context.wake(); });
  impl.ask_for_spare();
  return {};
}

// What has to be there, and who must not, before the first producer fences anybody.
Status OpenTransactionsWriter::Impl::look_ahead() {
  const Result<std::unique_ptr<Producer>> producer = Producer::make(settings, {});
  if (!producer.ok()) return producer.status();
  if (!settings.topic.empty()) {
    HUMMER_TRY((*producer)->require_topic(settings.topic, settings.connection.timeout_ms));
  }
  std::uint32_t partitions = static_cast<std::uint32_t>(context->parallelism());
  for (const Pending& each : pending) partitions = std::max(partitions, each.prepared.writer + 1);
  HUMMER_TRY(make_progress_topic((*producer)->client(), settings, static_cast<int>(partitions)));
  return refuse_beside_later(settings, self(), {context->run(), context->attempt()});
}

// What no complete checkpoint names will never be committed: readers would wait for its time to be
// up.
Status OpenTransactionsWriter::Impl::fence_earlier() {
  const std::uint32_t known = restored_ids.empty() ? 0 : restored_ids.rbegin()->first;
  for (std::uint32_t writer = self();;
       writer += static_cast<std::uint32_t>(context->parallelism())) {
    const auto least = restored_ids.find(writer);
    bool any = false;
    HUMMER_TRY(fence_writer(writer, least == restored_ids.end() ? 0 : least->second, any));
    if (!any && writer >= known) return {};
  }
}

// Ids are used from the smallest on, so what lies behind one that nobody knows was not used either.
Status OpenTransactionsWriter::Impl::fence_writer(std::uint32_t writer, std::uint32_t least,
                                                  bool& any) {
  for (std::uint32_t number = 0;; ++number) {
    const bool is_own = writer == self() && number == current->number();
    const bool is_pending = std::any_of(pending.begin(), pending.end(), [&](const Pending& each) {
      return each.prepared.writer == writer && each.prepared.number == number;
    });
    if (is_own || is_pending) {
      any = true;
      continue;
    }
    const std::string id = transactional_id(settings, writer, number);
    const Result<DescribedTransaction> now = coordinator.describe(id);
    if (!now.ok()) return now.status();
    const bool is_known = now->error == 0;
    if (!is_known && number >= least) return {};
    any = true;
    if (is_known) HUMMER_TRY(coordinator.fence(id, transaction_timeout_ms(settings)));
  }
}

Status OpenTransactionsWriter::Impl::conclude_restored() {
  std::stable_sort(pending.begin(), pending.end(), [](const Pending& a, const Pending& b) {
    return a.prepared.name.epoch < b.prepared.name.epoch;
  });
  for (const Pending& each : pending) {
    const Result<Outcome> outcome = conclude(coordinator, settings, each.prepared);
    if (!outcome.ok()) return outcome.status();
    if (*outcome == Outcome::lost) HUMMER_TRY(lost(each.prepared));
    if (each.prepared.writer == self()) ids.rest(each.prepared.number, last_barrier);
  }
  pending.clear();
  return {};
}

Status OpenTransactionsWriter::Impl::lost(const PreparedTransaction& of) {
  Status status = loss_of(settings, of);
  if (settings.lost_transactions == LostTransactions::fail) return status;
  lost_transactions.add();
  std::fprintf(stderr, "hummer: sink '%s': %s\n", context->name().c_str(),
               status.message().c_str());
  return {};
}

bool OpenTransactionsWriter::Impl::has_current() {
  if (!current && spare) {
    current = std::move(spare);
    ask_for_spare();
  }
  return current != nullptr;
}

void OpenTransactionsWriter::Impl::ask_for_spare() {
  if (asked_for_spare || spare) return;
  const std::uint32_t number = ids.take();
  if (const auto known = others.find(number); known != others.end()) {
    spare = std::move(known->second);
    others.erase(known);
    return;
  }
  asked_for_spare = true;
  background->post([this, number]() -> Status {
    if (is_closing) return {};
    Result<Transaction> result = EpochTransaction::make(settings, self(), number, coordinator);
    if (!result.ok()) return result.status();
    const std::lock_guard lock(mutex);
    made = std::move(*result);
    return {};
  });
}

// By the thread.
Status OpenTransactionsWriter::Impl::conclude_one(const PreparedTransaction& of,
                                                  EpochTransaction* live) {
  Concluded done{.number = of.number, .outcome = Outcome::committed, .producer_is_clear = true};
  done.producer_is_clear = live->commit();
  if (!done.producer_is_clear) {
    const Result<Outcome> outcome = conclude(coordinator, settings, of);
    if (!outcome.ok()) return outcome.status();
    done.outcome = *outcome;
    if (done.outcome == Outcome::lost && settings.lost_transactions == LostTransactions::fail) {
      return loss_of(settings, of);
    }
  }
  const std::lock_guard lock(mutex);
  concluded.push_back(done);
  return {};
}

Status OpenTransactionsWriter::Impl::take_news() {
  HUMMER_TRY(background->failure());
  std::vector<Concluded> news;
  {
    const std::lock_guard lock(mutex);
    if (made) {
      spare = std::move(made);
      asked_for_spare = false;
    }
    news.swap(concluded);
  }
  for (const Concluded& each : news) {
    const auto found = std::find_if(pending.begin(), pending.end(), [&](const Pending& one) {
      return one.prepared.number == each.number;
    });
    if (each.outcome == Outcome::lost) HUMMER_TRY(lost(found->prepared));
    pending.erase(found);
    // What its answers were is not known: it writes nothing any more.
    if (!each.producer_is_clear) others.erase(each.number);
    ids.rest(each.number, last_barrier);
  }
  return {};
}

Status OpenTransactionsWriter::begin_batch() {
  HUMMER_TRY(impl_->take_news());
  return impl_->current ? impl_->current->poll(0) : Status();
}

bool OpenTransactionsWriter::add(const Message& message) {
  Impl& impl = *impl_;
  if (impl.preparing || !impl.has_current()) return false;
  Status status = impl.current->write(outgoing_of(message, impl.settings.topic));
  if (status.ok()) return true;
  if (status.code() != ErrorCode::limit_exceeded) impl.failure = std::move(status);
  return false;
}

OperatorResult OpenTransactionsWriter::blocked() {
  return impl_->failure.ok() ? OperatorResult::blocked : impl_->context->fail(impl_->failure);
}

// An input that has become inactive is no barrier: what it left belongs to the next one.
OperatorResult OpenTransactionsWriter::flush() {
  Impl& impl = *impl_;
  return impl.context->epoch() == impl.last_barrier ? OperatorResult::done
                                                    : impl.prepare(impl.context->epoch());
}

OperatorResult OpenTransactionsWriter::end() {
  Impl& impl = *impl_;
  impl.has_ended = true;
  return impl.prepare(impl.context->epoch() + 1);
}

OperatorResult OpenTransactionsWriter::Impl::prepare(std::uint64_t epoch) {
  if (Status status = take_news(); !status.ok()) return context->fail(std::move(status));
  if (preparing) {
    const std::lock_guard lock(mutex);
    if (!prepared.has_value()) return OperatorResult::blocked;
    pending.push_back({.prepared = *std::exchange(prepared, std::nullopt)});
    preparing = false;
    const std::uint32_t number = current->number();
    others[number] = std::move(current);
  } else if (current && current->has_begun()) {
    preparing = true;
    const EpochName name{context->run(), context->attempt(), epoch};
    background->post([this, name]() -> Status {
      Result<PreparedTransaction> result = current->prepare(name, coordinator);
      if (!result.ok()) return result.status();
      const std::lock_guard lock(mutex);
      prepared = std::move(*result);
      return {};
    });
    return OperatorResult::blocked;
  }
  if (!has_ended) last_barrier = epoch;
  return OperatorResult::done;
}

Status OpenTransactionsWriter::snapshot(ByteWriter& out) {
  OpenSinkState state{.transactional_id = impl_->settings.transactional_id,
                      .writer = impl_->self(),
                      .ids = impl_->ids.count(),
                      .prepared = {}};
  for (const Impl::Pending& each : impl_->pending) state.prepared.push_back(each.prepared);
  write_state(out, state);
  return {};
}

Status OpenTransactionsWriter::commit(std::uint64_t epoch) {
  Impl& impl = *impl_;
  HUMMER_TRY(impl.take_news());
  impl.ids.complete(epoch);
  for (Impl::Pending& each : impl.pending) {
    if (each.is_committing || each.prepared.name.epoch > epoch) continue;
    each.is_committing = true;
    EpochTransaction* const live = impl.others.at(each.prepared.number).get();
    impl.background->post(
        [&impl, of = each.prepared, live] { return impl.conclude_one(of, live); });
  }
  if (!impl.has_ended) return {};
  // Nobody asks any more what has become of it.
  HUMMER_TRY(impl.background->finish());
  return impl.take_news();
}

Status OpenTransactionsWriter::close() {
  Impl& impl = *impl_;
  if (!impl.background.has_value()) return {};
  impl.is_closing = true;
  const Status status = impl.background->finish();
  impl.background.reset();
  if (impl.current) impl.current->abort();
  impl.current.reset();
  impl.spare.reset();
  impl.made.reset();
  impl.others.clear();
  return status;
}

}  // namespace hummer::kafka::detail
