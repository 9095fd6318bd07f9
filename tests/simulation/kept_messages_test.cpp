// A TaskManager and a client of an earlier version work with this version's JobManager: what they
// sent from the handshake to the end of a job is kept in tests/data/kept/VERSION/messages, as it
// came out of that version, and is sent again. One line per message: who sends it, and its bytes in
// hex.
//
// Before a release, once, this version's own are added; those that are there never change:
//
//   build/release/tests/hummer_simulated_tests --gtest_also_run_disabled_tests
//       --gtest_filter='KeptMessages.DISABLED_AreKept'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "job_library/engine_abi.hpp"
#include "job_manager/job_manager_test_rig.hpp"
#include "support/test_paths.hpp"

namespace hummer::kept_messages_test {
namespace {

namespace fs = std::filesystem;

const fs::path kept = fs::path(test_path("data")) / "kept";

struct Message {
  std::string sender;  // "worker" or "client"
  std::string bytes;   // of an Envelope
};

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(hex), "{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// ---- what this version sends ----

Message of(std::string sender, const wire::Envelope& envelope) {
  return {std::move(sender), envelope.SerializeAsString()};
}

Message state(std::uint64_t sequence, wire::AttemptState what) {
  wire::Envelope envelope;
  wire::TaskManagerState& state = *envelope.mutable_task_manager_state();
  state.set_sequence(sequence);
  state.set_wants_answer(true);
  if (what == wire::ATTEMPT_UNKNOWN) {
    wire::AttemptKey& key = *state.add_wanted();
    key.set_job(1);
    key.set_attempt(1);
    return of("worker", envelope);
  }
  wire::AttemptReport& report = *state.add_attempts();
  report.set_job(1);
  report.set_attempt(1);
  report.set_state(what);
  if (what == wire::ATTEMPT_RUNNING || what == wire::ATTEMPT_FINISHED) {
    wire::VertexMetrics& metrics = *report.add_metrics();
    metrics.set_vertex(0);
    metrics.add_operators()->set_records_out(10);
  }
  return of("worker", envelope);
}

template <typename Fill>
Message request(std::uint64_t id, Fill fill) {
  wire::Envelope envelope;
  envelope.mutable_client_request()->set_id(id);
  fill(*envelope.mutable_client_request());
  return of("client", envelope);
}

std::vector<Message> life_of_a_job() {
  wire::Envelope worker;
  *worker.mutable_hello() = hello_of();
  worker.mutable_hello()->set_engine_version(std::string(engine_version()));
  wire::Envelope client = worker;
  wire::Registration& registration = *worker.mutable_hello()->mutable_registration();
  registration.set_id("tm1");
  registration.set_slots(2);
  registration.set_incarnation(1);
  registration.set_host("host");
  registration.set_abi(std::string(engine_abi()));
  registration.add_data_addresses()->set_address("10.0.0.9:7000");
  const auto ask_for_job = [](wire::ClientRequest& body) { body.mutable_job()->set_job(1); };
  return {
      of("worker", worker),
      of("client", client),
      request(1, [](wire::ClientRequest& body) { *body.mutable_submit() = job_of(5, 2); }),
      state(1, wire::ATTEMPT_UNKNOWN),
      state(2, wire::ATTEMPT_PREPARING),
      state(3, wire::ATTEMPT_RUNNING),
      request(2, ask_for_job),
      request(3, [](wire::ClientRequest& body) { body.mutable_list(); }),
      request(4, [](wire::ClientRequest& body) { body.mutable_task_managers(); }),
      request(5, [](wire::ClientRequest& body) { body.mutable_log()->set_job(1); }),
      request(6,
              [](wire::ClientRequest& body) {
                body.mutable_end()->set_job(1);
                body.mutable_end()->set_desired_state(wire::DESIRED_STOP);
              }),
      state(4, wire::ATTEMPT_FINISHED),
      state(5, wire::ATTEMPT_FINISHED),
      request(7, ask_for_job),
  };
}

TEST(KeptMessages, DISABLED_AreKept) {
  const fs::path folder = kept / engine_version();
  fs::create_directories(folder);
  ASSERT_FALSE(fs::exists(folder / "messages")) << "they are kept as they are";
  std::ofstream out(folder / "messages");
  for (const Message& message : life_of_a_job()) {
    out << message.sender << " " << to_hex(message.bytes) << "\n";
  }
}

// ---- what this version answers to them ----

// The answers to the client's requests, in order.
Task<void> send_again(JobManagerRig& rig, const std::vector<Message>& messages,
                      std::vector<wire::ClientAnswer>& answers) {
  ScriptedWorker worker(rig);
  ScriptedPeer client(rig);
  for (const Message& message : messages) {
    wire::Envelope envelope;
    EXPECT_TRUE(envelope.ParseFromString(message.bytes));
    ScriptedPeer& sender = message.sender == "worker" ? static_cast<ScriptedPeer&>(worker) : client;
    if (envelope.has_hello()) {
      const bool welcomed = co_await sender.greet(envelope.hello());
      EXPECT_TRUE(welcomed) << message.sender << ": " << sender.refusal.failure().message();
      if (!welcomed) co_return;
      continue;
    }
    // Drawn by the JobManager.
    if (envelope.has_task_manager_state()) {
      envelope.mutable_task_manager_state()->set_session(sender.welcome.session());
    }
    const Status sent = sender.stream->send(envelope);
    EXPECT_TRUE(sent.ok()) << sent.to_string();
    while (true) {
      const Result<wire::Envelope> got = co_await sender.next(seconds(10));
      EXPECT_TRUE(got.ok()) << message.sender << ": " << got.status().to_string();
      if (!got.ok()) co_return;
      if (got->has_client_answer()) answers.push_back(got->client_answer());
      if (got->has_client_answer() ||
          got->job_manager_state().state_seen() >= envelope.task_manager_state().sequence()) {
        break;
      }
    }
  }
}

class KeptMessagesOf : public testing::TestWithParam<std::string> {};
std::vector<std::string> all_kept() {
  std::vector<std::string> versions;
  for (const auto& version : fs::directory_iterator(kept)) {
    versions.push_back(version.path().filename());
  }
  return versions;
}
INSTANTIATE_TEST_SUITE_P(Versions, KeptMessagesOf, testing::ValuesIn(all_kept()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST_P(KeptMessagesOf, LeadAJobFromSubmissionToItsEnd) {
  std::vector<Message> messages;
  std::ifstream in(kept / GetParam() / "messages");
  for (std::string sender, hex; in >> sender >> hex;) messages.push_back({sender, from_hex(hex)});
  ASSERT_GT(messages.size(), 10u);
  JobManagerRig rig(1);
  std::vector<wire::ClientAnswer> answers;
  rig.run(send_again(rig, messages, answers));
  ASSERT_EQ(answers.size(), 7u);
  for (const wire::ClientAnswer& answer : answers) {
    EXPECT_FALSE(answer.has_failure()) << answer.id() << ": " << answer.failure().message();
  }
  EXPECT_EQ(answers[0].submitted().job(), 1u);
  EXPECT_EQ(answers[1].job().state(), wire::JOB_RUNNING);
  EXPECT_EQ(answers[2].list().jobs_size(), 1);
  EXPECT_EQ(answers[3].task_managers().task_managers_size(), 1);
  EXPECT_EQ(answers[6].job().state(), wire::JOB_FINISHED);
  EXPECT_EQ(answers[6].job().vertices(0).metrics().operators(0).records_out(), 10u);
}

}  // namespace
}  // namespace hummer::kept_messages_test
