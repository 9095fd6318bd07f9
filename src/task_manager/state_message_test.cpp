#include "task_manager/state_message.hpp"

#include <gtest/gtest.h>

namespace hummer::state_message_test {
namespace {

wire::AttemptReport report_of(std::uint64_t records,
                              wire::AttemptState attempt_state = wire::ATTEMPT_RUNNING) {
  wire::AttemptReport report;
  report.set_job(7);
  report.set_attempt(1);
  report.set_state(attempt_state);
  report.add_metrics()->add_operators()->set_records_in(records);
  return report;
}

TEST(StateMessages, CountUpWithinASession) {
  StateMessages messages;
  messages.begin_session(3);
  EXPECT_EQ(messages.build({}, {}).sequence(), 1u);
  const wire::TaskManagerState state = messages.build({report_of(1)}, {{8, 2}});
  EXPECT_EQ(state.session(), 3u);
  EXPECT_EQ(state.sequence(), 2u);
  ASSERT_EQ(state.wanted_size(), 1);
  EXPECT_EQ(state.wanted(0).job(), 8u);
  EXPECT_EQ(state.wanted(0).attempt(), 2u);
  messages.begin_session(4);
  EXPECT_EQ(messages.build({}, {}).sequence(), 1u);
}

bool has_metrics(const wire::TaskManagerState& state) {
  return !state.attempts(0).metrics().empty();
}

TEST(StateMessages, MetricsAreRepeatedUntilTheyWereSeen) {
  StateMessages messages;
  messages.begin_session(3);
  EXPECT_TRUE(has_metrics(messages.build({report_of(1)}, {})));
  EXPECT_TRUE(has_metrics(messages.build({report_of(1)}, {})));
  messages.seen(0);
  EXPECT_TRUE(has_metrics(messages.build({report_of(1)}, {})));
  messages.seen(2);
  EXPECT_FALSE(has_metrics(messages.build({report_of(1)}, {})));
  const wire::TaskManagerState changed = messages.build({report_of(2)}, {});
  EXPECT_TRUE(has_metrics(changed));
  messages.seen(changed.sequence() - 1);
  EXPECT_TRUE(has_metrics(messages.build({report_of(2)}, {})));
  messages.seen(changed.sequence());
  EXPECT_FALSE(has_metrics(messages.build({report_of(2)}, {})));
  EXPECT_TRUE(has_metrics(messages.build({report_of(2, wire::ATTEMPT_FINISHED)}, {})));
  messages.begin_session(4);
  EXPECT_TRUE(has_metrics(messages.build({report_of(2)}, {})));
}

TEST(StateMessages, LogLinesAreLimited) {
  StateMessages messages;
  messages.begin_session(3);
  wire::AttemptReport report = report_of(1);
  report.set_first_log_line(10);
  for (int i = 0; i < log_lines_per_state + 5; ++i) {
    report.add_log_lines()->set_text(std::to_string(i));
  }
  const wire::TaskManagerState state = messages.build({report}, {});
  EXPECT_EQ(state.attempts(0).log_lines_size(), log_lines_per_state);
  EXPECT_EQ(state.attempts(0).first_log_line(), 10u);
  EXPECT_EQ(state.attempts(0).log_lines(0).text(), "0");
}

}  // namespace
}  // namespace hummer::state_message_test
