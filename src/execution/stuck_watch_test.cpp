// Sources that stand still are named; those that know when they have something are not.
#include "execution/stuck_watch.hpp"

#include "execution/deployed_jobs_for_test.hpp"

namespace hummer::stuck_watch_test {
namespace {

enum class Habit { polled, timed, woken };
Habit habit = Habit::polled;
bool has_something = false;
OperatorContext* place = nullptr;

class Quiet final : public SourceFunction<std::uint64_t> {
 public:
  Status open(OperatorContext& context) override {
    place = &context;
    return {};
  }
  OperatorResult produce(SourceOutput<std::uint64_t>& out) override {
    if (has_something) out.emit(std::uint64_t{1});
    if (habit == Habit::timed) place->call_at(place->now() + seconds(1));
    has_something = false;
    return OperatorResult::blocked;
  }
};

JobResult quiet_job(StreamExecutionEnvironment& env) {
  env.from_source<std::uint64_t>(
         "quiet", [] { return std::make_unique<Quiet>(); }, false)
      .parallelism(1)
      .for_each([](const std::uint64_t& i) { TestSink::instance().add(i); });
  return env.execute("quiet");
}

class StuckWatchTest : public testing::TestWithParam<Habit> {
 protected:
  StuckWatchTest() {
    TestSink::instance().clear();
    habit = GetParam();
    has_something = false;
    EnvironmentOptions defaults;
    defaults.platform = platform_.get();
    Result<BuiltJob> built = build_job(&quiet_job, {}, defaults);
    EXPECT_TRUE(built.ok()) << built.status().to_string();
    Result<JobGraph> job = fuse(built->graph);
    EXPECT_TRUE(job.ok());
    Result<ExecutionGraph> placed = place_job(*job);
    EXPECT_TRUE(placed.ok());
    deployment_ = std::make_unique<Deployment>(*platform_, std::move(built->graph), std::move(*job),
                                               std::move(*placed), DeploymentOptions());
    EXPECT_TRUE(deployment_->start().ok());
  }
  ~StuckWatchTest() override {
    deployment_->cancel();
    (void)platform_->run_until([&] { return deployment_->finished(); },
                               platform_->now() + seconds(60));
    (void)deployment_->finish();
  }
  static Result<ExecutionGraph> place_job(const JobGraph& job) {
    return ::hummer::place(job, embedded_cluster(1), {.default_parallelism = 1});
  }
  // What the watch says when it is asked once a second.
  std::vector<std::string> after(int seconds_passed) {
    std::vector<std::string> stuck;
    for (int i = 0; i < seconds_passed; ++i) {
      (void)platform_->run_until([] { return false; }, platform_->now() + seconds(1));
      stuck = watch_.look(*deployment_, platform_->now());
    }
    return stuck;
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({.seed = 3});
  std::unique_ptr<Deployment> deployment_;
  StuckWatch watch_{seconds(5)};
};
INSTANTIATE_TEST_SUITE_P(Habits, StuckWatchTest,
                         testing::Values(Habit::polled, Habit::timed, Habit::woken));

TEST_P(StuckWatchTest, NamesASourceThatNobodyWakes) {
  if (GetParam() == Habit::woken) {
    (void)after(1);
    has_something = true;
    place->wake();
  }
  EXPECT_TRUE(after(4).empty());
  const std::vector<std::string> stuck = after(4);
  if (GetParam() != Habit::polled) {
    EXPECT_TRUE(stuck.empty()) << stuck[0];
    return;
  }
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_NE(stuck[0].find("source 'quiet' has given nothing for"), std::string::npos) << stuck[0];
  has_something = true;
  EXPECT_TRUE(after(1).empty());
  EXPECT_EQ(TestSink::instance().size(), 1u);
}

}  // namespace
}  // namespace hummer::stuck_watch_test
