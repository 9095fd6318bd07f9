#include "execution/attempt_host.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

std::string name_of(const Attempt& attempt) {
  return to_string(attempt.id()) + " (" + attempt.job_name() + ")";
}

}  // namespace

void AttemptHost::begin_session(std::uint64_t session, std::uint64_t job_manager) {
  context_.job_manager = job_manager;
  table_.begin_session(session);
  libraries_.connection_changed();
}

void AttemptHost::end_session() {
  execute(table_.end_session());
  libraries_.keep_only({});
  keep_files({});
}

void AttemptHost::cancel_all() {
  refusing_ = true;
  for (auto& [id, attempt] : attempts_) {
    if (!attempt->ended()) {
      context_.log.warning(
          fmt::format("'{}': its part here ends with this TaskManager; the JobManager says whether "
                      "the job goes on elsewhere",
                      attempt->job_name()),
          {.job = id.job, .attempt = id.attempt});
    }
    attempt->cancel();
  }
}

bool AttemptHost::apply(const wire::JobManagerState& state) {
  const auto before = table_.entries();
  AttemptTable::Actions actions;
  if (table_.apply(state, actions) != AttemptTable::Verdict::applied) return false;
  execute(std::move(actions));
  for (const wire::Assignment& assignment : state.assignments()) {
    const auto at = attempts_.find({assignment.job(), assignment.attempt(), assignment.region()});
    if (at == attempts_.end()) continue;
    at->second->log_lines_seen(assignment.log_lines_seen());
    if (assignment.listings_size() > 0) at->second->deliver_listings(assignment);
    if (assignment.has_checkpoints()) at->second->follow(assignment.checkpoints());
  }
  keep_files(state);
  return table_.entries() != before;
}

// Of attempts that are here, and of those whose files others read.
void AttemptHost::keep_files(const wire::JobManagerState& state) {
  if (context_.shuffle == nullptr) return;
  std::set<ShuffleAttempt> kept;
  const auto add = [&](std::uint64_t job, std::uint32_t attempt, std::uint32_t region) {
    kept.insert({context_.job_manager ^ job, attempt, region});
  };
  for (const auto& [id, phase] : table_.entries()) add(id.job, id.attempt, id.region);
  for (const wire::AttemptKey& key : state.kept()) add(key.job(), key.attempt(), key.region());
  context_.shuffle->keep_only(kept);
}

void AttemptHost::execute(AttemptTable::Actions actions) {
  for (const AttemptId& id : actions.stop) attempts_.at(id)->stop();
  for (const AttemptId& id : actions.cancel) attempts_.at(id)->cancel();
  for (const AttemptId& id : actions.forget) attempts_.erase(id);
  for (const AttemptId& id : actions.leave) {
    auto left = attempts_.extract(id);
    std::vector<int> slots = left.mapped()->slots();
    left_over_.push_back({std::move(left.mapped()), std::move(slots)});
  }
  for (AttemptTable::Start& start : actions.start) {
    auto attempt = std::make_unique<Attempt>(context_, start.id, std::move(start.deployment));
    if (start.stop) attempt->stop();
    if (refusing_) attempt->cancel();
    attempt->start();
    attempts_[start.id] = std::move(attempt);
    live_.fetch_add(1, std::memory_order_acq_rel);
  }
}

bool AttemptHost::look_at_left_over() {
  bool changed = false;
  for (LeftOver& each : left_over_) {
    if (each.attempt->ended()) {
      each.attempt.reset();
      live_.fetch_sub(1, std::memory_order_acq_rel);
      changed = true;
      continue;
    }
    std::vector<int> slots = each.attempt->slots_left(each.slots);
    changed |= slots != each.slots;
    each.slots = std::move(slots);
  }
  std::erase_if(left_over_, [](const LeftOver& each) { return each.attempt == nullptr; });
  return changed;
}

bool AttemptHost::look() {
  bool changed = look_at_left_over();
  std::vector<std::uint64_t> wanted;
  std::vector<AttemptId> over;
  for (const auto& [id, phase] : table_.entries()) {
    if (phase != AttemptTable::Phase::live) continue;
    Attempt& attempt = *attempts_.at(id);
    if (attempt.ended()) {
      over.push_back(id);
    } else if (const auto library = attempt.wanted_library()) {
      libraries_.want(library->hash, library->bytes);
      wanted.push_back(library->hash);
    }
  }
  libraries_.keep_only(wanted);
  std::map<std::uint64_t, Result<LibraryBytes>> there;
  for (const std::uint64_t hash : wanted) {
    if (there.contains(hash)) continue;
    there.emplace(hash, libraries_.result(hash));
  }
  for (auto& [id, attempt] : attempts_) {
    const auto library = attempt->wanted_library();
    if (!library || !there.contains(library->hash)) continue;
    const Result<LibraryBytes>& result = there.at(library->hash);
    if (!result.ok() || *result != nullptr) attempt->deliver_library(result);
  }
  for (const AttemptId& id : over) {
    live_.fetch_sub(1, std::memory_order_acq_rel);
    changed = true;
    tasks_ended_at_ = std::max(tasks_ended_at_, attempts_.at(id)->tasks_ended_at());
    execute(table_.ended(id));
  }
  if (changed) context_.platform->notify_main();
  return changed;
}

std::vector<wire::AttemptReport> AttemptHost::reports(Nanoseconds now) {
  std::vector<wire::AttemptReport> all;
  for (const auto& [id, phase] : table_.entries()) {
    if (phase == AttemptTable::Phase::wanted) continue;
    const auto at = attempts_.find(id);
    if (at != attempts_.end()) {
      all.push_back(at->second->report(now));
      continue;
    }
    wire::AttemptReport& report = all.emplace_back();
    report.set_job(id.job);
    report.set_attempt(id.attempt);
    report.set_region(id.region);
    report.set_state(phase == AttemptTable::Phase::never_ran ? wire::ATTEMPT_CANCELLED
                                                             : wire::ATTEMPT_PREPARING);
  }
  return all;
}

std::vector<AttemptId> AttemptHost::wanted() const {
  std::vector<AttemptId> all;
  for (const auto& [id, phase] : table_.entries()) {
    if (phase == AttemptTable::Phase::wanted) all.push_back(id);
  }
  return all;
}

std::vector<wire::LeftOver> AttemptHost::left_over(Nanoseconds now) const {
  std::vector<wire::LeftOver> all;
  for (const LeftOver& each : left_over_) {
    wire::LeftOver& left = all.emplace_back();
    left.set_name(name_of(*each.attempt));
    for (const int slot : each.slots) left.add_slots(static_cast<std::uint32_t>(slot));
    for (std::string& text : each.attempt->stuck(now)) left.add_stuck(std::move(text));
  }
  return all;
}

std::vector<int> AttemptHost::slots_left_over() const {
  std::set<int> slots;
  for (const LeftOver& each : left_over_) slots.insert(each.slots.begin(), each.slots.end());
  return {slots.begin(), slots.end()};
}

std::vector<AttemptHost::Sampled> AttemptHost::samples(Nanoseconds now) const {
  std::vector<Sampled> all;
  for (const auto& [id, attempt] : attempts_) {
    TaskSamples samples = attempt->samples(now);
    if (!samples.tasks.empty()) all.push_back({id, attempt->job_name(), std::move(samples)});
  }
  return all;
}

std::vector<std::pair<AttemptId, std::vector<int>>> AttemptHost::held() const {
  std::vector<std::pair<AttemptId, std::vector<int>>> all;
  for (const auto& [id, attempt] : attempts_) {
    if (!attempt->ended()) all.emplace_back(id, attempt->slots());
  }
  for (const LeftOver& each : left_over_) {
    if (!each.attempt->ended()) all.emplace_back(each.attempt->id(), each.slots);
  }
  return all;
}

std::vector<std::string> AttemptHost::stuck(Nanoseconds now) {
  std::vector<std::string> all;
  const auto look_at = [&](Attempt& attempt) {
    for (const std::string& text : attempt.stuck(now)) {
      all.push_back(name_of(attempt) + ": " + text);
    }
  };
  for (const LeftOver& each : left_over_) look_at(*each.attempt);
  for (const auto& [id, attempt] : attempts_) look_at(*attempt);
  return all;
}

}  // namespace hummer
