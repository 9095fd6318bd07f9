#include "execution/attempt_table.hpp"

#include <algorithm>
#include <utility>

#include <hummer/status.hpp>

namespace hummer {

std::string to_string(const AttemptId& id) {
  const std::string region = id.region == 0 ? "" : ", region " + std::to_string(id.region);
  return "job " + std::to_string(id.job) + region + ", attempt " + std::to_string(id.attempt);
}

void AttemptTable::begin_session(std::uint64_t session) {
  HUMMER_ASSERT(empty());
  session_ = session;
  last_sequence_ = 0;
}

AttemptTable::Actions AttemptTable::end_session() {
  session_ = 0;
  for (auto& [id, entry] : entries_) entry.named = false;
  Actions actions;
  drop_unnamed(actions);
  for (const auto& [id, entry] : entries_) actions.leave.push_back(id);
  entries_.clear();
  return actions;
}

AttemptTable::Verdict AttemptTable::apply(const wire::JobManagerState& state, Actions& actions) {
  if (session_ == 0 || state.session() != session_) return Verdict::foreign;
  if (state.sequence() <= last_sequence_) return Verdict::stale;
  last_sequence_ = state.sequence();

  for (auto& [id, entry] : entries_) entry.named = false;
  for (const wire::Assignment& assignment : state.assignments()) {
    const AttemptId id{assignment.job(), assignment.attempt(), assignment.region()};
    Entry& entry = entries_[id];  // wanted, when it is new
    entry.named = true;
    if (entry.phase == Phase::wanted && assignment.has_deployment()) {
      entry.phase = Phase::held_back;
      entry.deployment = assignment.deployment();
    }
    apply_desired_state(id, entry, assignment.desired_state(), actions);
  }
  drop_unnamed(actions);
  start_what_can(actions);
  return Verdict::applied;
}

void AttemptTable::apply_desired_state(const AttemptId& id, Entry& entry,
                                       wire::DesiredState desired_state, Actions& actions) {
  if (desired_state <= entry.desired_state) return;
  entry.desired_state = desired_state;
  if (entry.phase == Phase::live) {
    (desired_state == wire::DESIRED_STOP ? actions.stop : actions.cancel).push_back(id);
  } else if (entry.phase != Phase::ended && desired_state >= wire::DESIRED_CANCEL) {
    entry.phase = Phase::never_ran;
    entry.deployment.Clear();
  }
}

void AttemptTable::drop_unnamed(Actions& actions) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    auto& [id, entry] = *at;
    if (entry.named) {
      ++at;
    } else if (entry.phase == Phase::live) {
      if (entry.desired_state < wire::DESIRED_CANCEL) actions.cancel.push_back(id);
      entry.desired_state = wire::DESIRED_CANCEL;
      ++at;
    } else {
      if (entry.phase == Phase::ended) actions.forget.push_back(id);
      at = entries_.erase(at);
    }
  }
}

bool AttemptTable::region_is_live(const AttemptId& of) const {
  return std::any_of(entries_.begin(), entries_.end(), [&of](const auto& entry) {
    const AttemptId& id = entry.first;
    return id.job == of.job && id.region == of.region && entry.second.phase == Phase::live;
  });
}

void AttemptTable::start_what_can(Actions& actions) {
  for (auto& [id, entry] : entries_) {
    if (entry.phase != Phase::held_back || region_is_live(id)) continue;
    entry.phase = Phase::live;
    actions.start.push_back(
        {id, std::exchange(entry.deployment, {}), entry.desired_state == wire::DESIRED_STOP});
  }
}

AttemptTable::Actions AttemptTable::ended(const AttemptId& id) {
  const auto at = entries_.find(id);
  HUMMER_ASSERT(at != entries_.end() && at->second.phase == Phase::live);
  at->second.phase = Phase::ended;
  Actions actions;
  drop_unnamed(actions);
  start_what_can(actions);
  return actions;
}

std::vector<std::pair<AttemptId, AttemptTable::Phase>> AttemptTable::entries() const {
  std::vector<std::pair<AttemptId, Phase>> all;
  all.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) all.emplace_back(id, entry.phase);
  return all;
}

}  // namespace hummer
