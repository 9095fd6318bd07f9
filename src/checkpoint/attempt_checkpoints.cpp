#include "checkpoint/attempt_checkpoints.hpp"

#include <algorithm>
#include <utility>

namespace hummer {

AttemptCheckpoints::AttemptCheckpoints(Settings settings, Nanoseconds now)
    : settings_(std::move(settings)),
      coordinator_(settings_.options, settings_.tasks, settings_.first, now),
      next_number_(settings_.first) {}

// ---- what happened ----

void AttemptCheckpoints::saved(std::uint64_t checkpoint, std::size_t task, CheckpointFile file) {
  if (task < settings_.tasks) coordinator_.acknowledged(checkpoint, task, std::move(file));
}

void AttemptCheckpoints::passed(std::uint64_t checkpoint, std::size_t task) {
  if (task < settings_.tasks) coordinator_.passed(checkpoint, task);
}

void AttemptCheckpoints::declined(std::uint64_t checkpoint, Nanoseconds now, Status why) {
  coordinator_.declined(checkpoint, now, std::move(why));
}

void AttemptCheckpoints::ended(std::size_t task) {
  if (task < settings_.tasks) coordinator_.ended(task);
}

void AttemptCheckpoints::request_savepoint(SavepointRequest savepoint) {
  const bool known =
      std::any_of(requests_.begin(), requests_.end(),
                  [&](const SavepointRequest& each) { return each.id == savepoint.id; });
  if (!known) requests_.push_back(std::move(savepoint));
}

void AttemptCheckpoints::carried_out(const CheckpointOutcome& outcome, Nanoseconds now) {
  const CheckpointOrder& order = outcome.order;
  if (order.attempt != settings_.attempt || order.checkpoint != current_.checkpoint) return;
  if (order.kind == CheckpointOrder::Kind::begin) {
    if (outcome.status.ok()) {
      begun_ = current_;
    } else {
      coordinator_.declined(order.checkpoint, now, outcome.status);
    }
    return;
  }
  if (order.kind != CheckpointOrder::Kind::complete) return;
  coordinator_.stored(order.checkpoint, now, outcome.status);
  if (!outcome.status.ok()) return;  // given up: the rest follows from that
  const Begun done = std::exchange(current_, {});
  if (!done.savepoint || done.stops) to_commit_ = done.checkpoint;
  if (!done.savepoint) before_ = order.metadata;
  if (done.stops) {
    stopped_with_ = order.metadata;
    stopped_path_ = done.path;
  }
  if (done.savepoint) end_savepoint({}, done.path);
}

void AttemptCheckpoints::end_savepoint(Status status, std::string path) {
  ends_.push_back({requests_.front().id, std::move(status), std::move(path)});
  requests_.pop_front();
  asked_ = false;
}

void AttemptCheckpoints::hold(Nanoseconds now, const Status& why) {
  held_ = true;
  coordinator_.interrupt(now, why);
}

void AttemptCheckpoints::begin_again(const std::vector<std::uint32_t>& tasks) {
  for (const std::uint32_t task : tasks) coordinator_.begins_again(task);
}

void AttemptCheckpoints::over(const Status& why) {
  while (!requests_.empty()) end_savepoint(why, {});
}

// ---- what is due ----

CheckpointOrder AttemptCheckpoints::order(CheckpointOrder::Kind kind, std::uint64_t checkpoint,
                                          std::string path) const {
  CheckpointOrder order;
  order.kind = kind;
  order.job = settings_.job;
  order.attempt = settings_.attempt;
  order.directory = settings_.directory;
  order.own_from = settings_.own_from;
  order.checkpoint = checkpoint;
  order.path = std::move(path);
  order.retained = settings_.options.retained;
  return order;
}

std::vector<CheckpointOrder> AttemptCheckpoints::advance(Nanoseconds now, std::int64_t wall_ms) {
  std::vector<CheckpointOrder> orders;
  if (stopped_with_) return orders;
  if (const auto done = coordinator_.take_completed()) {
    CheckpointOrder complete =
        order(CheckpointOrder::Kind::complete, done->checkpoint, current_.path);
    complete.metadata = settings_.describes;
    complete.metadata.id = done->checkpoint;
    complete.metadata.savepoint = done->savepoint;
    complete.metadata.completed_ms = wall_ms;
    complete.metadata.files = done->files;
    Status status = complete.metadata.add_earlier_files(before_ ? &*before_ : nullptr);
    if (status.ok()) {
      orders.push_back(std::move(complete));
    } else {  // given up, as the next lines see
      coordinator_.stored(done->checkpoint, now, std::move(status));
    }
  }
  if (const auto given_up = coordinator_.take_given_up(now)) {
    const Begun gone = std::exchange(current_, {});
    orders.push_back(order(CheckpointOrder::Kind::drop, *given_up, gone.path));
    if (gone.stops) begun_.stops = false;  // its sources go on
    if (gone.savepoint) {
      end_savepoint(coordinator_.last_failure().with_context("savepoint '" + gone.path + "'"), {});
    }
  }
  if (held_) return orders;
  if (!requests_.empty() && !asked_) asked_ = coordinator_.request_savepoint();
  if (const auto begin = coordinator_.take_begin(now)) {
    current_.checkpoint = begin->checkpoint;
    current_.savepoint = begin->savepoint;
    current_.unaligned = begin->unaligned;
    current_.stops = begin->savepoint && requests_.front().stop;
    if (begin->savepoint) {
      const std::string& requested = requests_.front().directory;
      current_.path = savepoint_path(requested.empty() ? settings_.options.directory : requested,
                                     begin->checkpoint, requests_.front().id);
    } else {
      current_.path = CheckpointStore::path_in(settings_.directory, begin->checkpoint);
    }
    next_number_ = begin->checkpoint + 1;
    orders.push_back(order(CheckpointOrder::Kind::begin, begin->checkpoint, current_.path));
    orders.back().savepoint = begin->savepoint;
  }
  return orders;
}

Nanoseconds AttemptCheckpoints::next_deadline() const {
  if (stopped_with_ || held_) return never;
  if (!requests_.empty() && !asked_) return 0;
  return coordinator_.next_deadline();
}

std::vector<SavepointEnd> AttemptCheckpoints::take_savepoints() { return std::exchange(ends_, {}); }

}  // namespace hummer
