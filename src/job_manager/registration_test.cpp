// Who is let in, who is lost, and what garbage costs.
#include "job_manager/job_manager_test_rig.hpp"

namespace hummer::registration_test {
namespace {

class Registration : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Registration, testing::Range<std::uint64_t>(1, 4));

Task<wire::TaskManagerList> task_managers(ScriptedClient& client) {
  wire::ClientRequest request;
  request.mutable_task_managers();
  const wire::ClientAnswer answer = co_await client.ask(std::move(request));
  co_return answer.task_managers();
}

Task<void> register_script(JobManagerRig& rig) {
  ScriptedWorker one(rig), two(rig);
  const bool joined = co_await one.join("tm1", 4);
  EXPECT_TRUE(joined);
  EXPECT_GT(one.welcome.session(), 0u);
  EXPECT_EQ(one.welcome.heartbeat_interval_ms(), 1000u);
  EXPECT_EQ(one.welcome.heartbeat_timeout_ms(), 5000u);
  const bool second = co_await two.join("tm2", 2);
  EXPECT_TRUE(second);
  EXPECT_GT(two.welcome.session(), one.welcome.session());
  const wire::JobManagerState state = co_await one.beat();
  EXPECT_EQ(state.session(), one.welcome.session());
  EXPECT_EQ(state.assignments_size(), 0);
  ScriptedClient client(rig);
  const bool client_in = co_await client.join();
  EXPECT_TRUE(client_in);
  EXPECT_EQ(client.welcome.session(), 0u);
  const wire::TaskManagerList list = co_await task_managers(client);
  EXPECT_EQ(list.task_managers_size(), 2);
  EXPECT_EQ(list.task_managers(0).id(), "tm1");
  EXPECT_EQ(list.task_managers(0).slots_free(), 4u);
  EXPECT_EQ(rig.job_manager->counts().task_managers, 2u);
}

TEST_P(Registration, TaskManagersGetRisingSessions) {
  JobManagerRig rig(GetParam());
  rig.run(register_script(rig));
}

Task<void> same_id_script(JobManagerRig& rig) {
  ScriptedWorker first(rig), second(rig);
  const bool joined = co_await first.join("tm1", 1, 100);
  EXPECT_TRUE(joined);
  const bool refused = !co_await second.join("tm1", 1, 200);
  EXPECT_TRUE(refused);
  EXPECT_TRUE(second.refusal.may_retry());
  EXPECT_NE(second.refusal.failure().message().find("'tm1'"), std::string::npos);
  const wire::JobManagerState state = co_await first.beat();
  EXPECT_EQ(state.session(), first.welcome.session());
  EXPECT_EQ(rig.job_manager->counts().refused, 1u);
  // The same process again: its old connection broke unnoticed.
  ScriptedWorker again(rig);
  const bool back = co_await again.join("tm1", 1, 100);
  EXPECT_TRUE(back);
  EXPECT_GT(again.welcome.session(), first.welcome.session());
  const bool closed = co_await first.is_closed(seconds(1));
  EXPECT_TRUE(closed);
  EXPECT_EQ(rig.job_manager->counts().task_managers_lost, 1u);
  EXPECT_EQ(rig.job_manager->counts().task_managers, 1u);
}

TEST_P(Registration, OneIdIsOneProcess) {
  JobManagerRig rig(GetParam());
  rig.run(same_id_script(rig));
}

Task<void> silent_script(JobManagerRig& rig) {
  ScriptedWorker silent(rig), lively(rig), closing(rig);
  const bool one = co_await silent.join("silent", 1);
  const bool two = co_await lively.join("lively", 1);
  const bool three = co_await closing.join("closing", 1);
  EXPECT_TRUE(one && two && three);
  closing.stream->close();
  for (int i = 0; i < 60; ++i) {
    const wire::JobManagerState unused = co_await lively.beat();
    co_await sleep_for(milliseconds(100));
  }
  EXPECT_TRUE(rig.logged("TaskManager 'silent' lost: no heartbeat for 5.0 s"));
  EXPECT_TRUE(rig.logged("TaskManager 'closing' lost: connection lost ("));
  EXPECT_FALSE(rig.logged("TaskManager 'lively' lost"));
  const bool closed = co_await silent.is_closed(milliseconds(100));
  EXPECT_TRUE(closed);
  ScriptedClient client(rig);
  const bool in = co_await client.join();
  EXPECT_TRUE(in);
  const wire::TaskManagerList list = co_await task_managers(client);
  EXPECT_EQ(list.task_managers_size(), 3);
  EXPECT_FALSE(list.task_managers(0).lost());
  EXPECT_TRUE(list.task_managers(1).lost() && list.task_managers(2).lost());
  // A lost one may come back, as a new session.
  const bool back = co_await silent.join("silent", 1, 2);
  EXPECT_TRUE(back);
  const wire::TaskManagerList after = co_await task_managers(client);
  EXPECT_EQ(after.task_managers_size(), 3);
}

TEST_P(Registration, TaskManagersAreLostBySilenceOrConnection) {
  JobManagerRig rig(GetParam());
  rig.run(silent_script(rig));
}

Task<void> stale_script(JobManagerRig& rig) {
  ScriptedWorker worker(rig);
  const bool joined = co_await worker.join("tm1", 1);
  EXPECT_TRUE(joined);
  worker.sequence = 10;
  const wire::JobManagerState first = co_await worker.beat();
  EXPECT_EQ(first.state_seen(), 11u);
  worker.send_state(worker.welcome.session(), 11);      // repeated
  worker.send_state(worker.welcome.session(), 3);       // overtaken
  worker.send_state(worker.welcome.session() + 1, 50);  // of another session
  const wire::JobManagerState second = co_await worker.beat();
  EXPECT_EQ(second.state_seen(), 12u);
  // Only what was new is answered.
  EXPECT_EQ(second.sequence(), first.sequence() + 1);
  EXPECT_EQ(rig.job_manager->counts().stale_states, 3u);
}

TEST_P(Registration, StaleStatesAreDropped) {
  JobManagerRig rig(GetParam());
  rig.run(stale_script(rig));
}

Task<void> refused_script(JobManagerRig& rig) {
  ScriptedPeer wrong_token(rig);
  const bool token = co_await wrong_token.greet(hello_of("secrex"));
  EXPECT_FALSE(token);
  EXPECT_EQ(wrong_token.refusal.failure().code(),
            static_cast<std::uint32_t>(ErrorCode::permission_denied));
  EXPECT_FALSE(wrong_token.refusal.may_retry());
  ScriptedPeer no_token(rig);
  const bool none = co_await no_token.greet(hello_of(""));
  EXPECT_FALSE(none);
  ScriptedPeer other_version(rig);
  wire::Hello hello = hello_of();
  hello.set_protocol_version(99);
  const bool version = co_await other_version.greet(hello);
  EXPECT_FALSE(version);
  EXPECT_NE(other_version.refusal.failure().message().find("version 99"), std::string::npos);
  ScriptedWorker no_slots(rig), no_id(rig), many_slots(rig);
  const bool slots = co_await no_slots.join("tm1", 0);
  const bool id = co_await no_id.join("", 1);
  const bool many = co_await many_slots.join("tm2", 4'000'000'000u);
  EXPECT_FALSE(slots || id || many);
  const bool closed = co_await many_slots.is_closed(seconds(2));
  EXPECT_TRUE(closed);
  EXPECT_EQ(rig.job_manager->counts().refused, 6u);
}

TEST_P(Registration, StrangersAreRefusedWithTheReason) {
  JobManagerRig rig(GetParam());
  rig.run(refused_script(rig));
}

Task<void> garbage_script(JobManagerRig& rig) {
  // Silence, half a frame, another protocol, and a message that belongs elsewhere.
  std::vector<std::unique_ptr<ByteStream>> strangers;
  for (int i = 0; i < 3; ++i) strangers.push_back(co_await rig.connect());
  const std::string half("HUMC\x10\0\0\0", 8);
  // HTTP is no garbage here (rest_clients_test.cpp).
  const std::string other = "SSH-2.0-stranger\r\n\r\n";
  const Status one = co_await strangers[1]->write_all(half);
  const Status two = co_await strangers[2]->write_all(other);
  EXPECT_TRUE(one.ok() && two.ok());
  ScriptedWorker liar(rig);
  const bool joined = co_await liar.join("tm1", 1);
  EXPECT_TRUE(joined);
  wire::Envelope wrong;
  wrong.mutable_job_manager_state();
  const Status three = liar.stream->send(wrong);
  EXPECT_TRUE(three.ok());
  const bool closed = co_await liar.is_closed(seconds(1));
  EXPECT_TRUE(closed);
  const Nanoseconds began = rig.now();
  for (std::unique_ptr<ByteStream>& stranger : strangers) {
    char byte = 0;
    const Result<std::size_t> end = co_await stranger->read_some({&byte, 1});
    EXPECT_TRUE(!end.ok() || *end == 0);
  }
  EXPECT_LE(rig.now() - began, seconds(6));
  EXPECT_EQ(rig.job_manager->counts().garbage, 2u);
  EXPECT_EQ(rig.job_manager->counts().connections, 0u);
}

TEST_P(Registration, GarbageAndSilenceCostAConnectionNotTheJobManager) {
  JobManagerRig rig(GetParam());
  rig.run(garbage_script(rig));
}

Task<void> flood_script(JobManagerRig& rig) {
  std::vector<std::unique_ptr<ByteStream>> strangers;
  for (int i = 0; i < 1100; ++i) strangers.push_back(co_await rig.connect());
  co_await sleep_for(milliseconds(500));
  EXPECT_EQ(rig.job_manager->counts().connections, 1000u);
  ScriptedWorker worker(rig);
  const bool joined = co_await worker.join("tm1", 1);
  EXPECT_TRUE(joined);
}

TEST(RegistrationFlood, TheOldestHandshakesAreDropped) {
  JobManagerOptions options;
  options.handshake_timeout_ns = seconds(60);
  JobManagerRig rig(1, options);
  rig.run(flood_script(rig));
}

}  // namespace
}  // namespace hummer::registration_test
