#include "task_manager/state_message.hpp"

#include <utility>

namespace hummer {

bool has_ended(wire::AttemptState state) {
  return state == wire::ATTEMPT_FINISHED || state == wire::ATTEMPT_FAILED ||
         state == wire::ATTEMPT_CANCELLED;
}

void StateMessages::begin_session(std::uint64_t session) {
  session_ = session;
  sequence_ = 0;
  attempts_.clear();
}

wire::TaskManagerState StateMessages::build(std::vector<wire::AttemptReport> reports,
                                            const std::vector<AttemptId>& wanted) {
  wire::TaskManagerState state;
  state.set_session(session_);
  state.set_sequence(++sequence_);
  for (wire::AttemptReport& report : reports) {
    leave_out_seen_metrics(report);
    if (report.log_lines_size() > log_lines_per_state) {
      report.mutable_log_lines()->DeleteSubrange(log_lines_per_state,
                                                 report.log_lines_size() - log_lines_per_state);
    }
    *state.add_attempts() = std::move(report);
  }
  for (const AttemptId& id : wanted) {
    wire::AttemptKey& key = *state.add_wanted();
    key.set_job(id.job);
    key.set_attempt(id.attempt);
    key.set_region(id.region);
  }
  return state;
}

void StateMessages::leave_out_seen_metrics(wire::AttemptReport& report) {
  if (report.metrics().empty()) return;
  std::string metrics;
  for (const wire::VertexMetrics& vertex : report.metrics()) {
    const std::string text = vertex.SerializeAsString();
    metrics += std::to_string(text.size()) + ":" + text;
  }
  Sent& sent = attempts_[{report.job(), report.attempt(), report.region()}];
  if (sent.metrics != metrics) {
    sent = {std::move(metrics), sequence_, false};
  } else if (sent.seen && !has_ended(report.state())) {
    report.clear_metrics();
  }
}

void StateMessages::seen(std::uint64_t sequence) {
  for (auto& [id, sent] : attempts_) sent.seen = sent.seen || sequence >= sent.sequence;
}

}  // namespace hummer
