// ScriptedJobManager: the other side of a TaskManager's session, doing what a test says.
//
// It greets whoever comes, answers every state with what the test wants of that TaskManager, and
// keeps what it was told. Thread: the test's calls from any; the rest on an executor of its own.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "execution/attempt_table.hpp"
#include "platform/platform.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/message_stream.hpp"

namespace hummer {

// Loses so many of the library pieces that are sent, every second one.
class LosePieces final : public MessageFaults {
 public:
  void set(int count) { left_ = count; }
  Verdict next(const wire::Envelope& message) override {
    if (!message.has_library_piece() || left_ == 0 || ++seen_ % 2 == 0) return {};
    --left_;
    return {Fate::lose, 0};
  }

 private:
  int left_ = 0;
  int seen_ = 0;
};

class ScriptedJobManager {
 public:
  struct Options {
    std::string listen = "*:6123";
    std::uint32_t heartbeat_interval_ms = 50;
    std::uint32_t heartbeat_timeout_ms = 500;
    std::uint64_t first_session = 1;
    MessageFaults* faults = nullptr;
    std::size_t piece_bytes = 100;
  };
  struct Want {
    wire::DesiredState desired_state = wire::DESIRED_RUN;
    wire::Deployment deployment;
    std::uint64_t log_lines_seen = 0;
    wire::CheckpointState checkpoints = {};
  };
  // What a TaskManager has said.
  struct Worker {
    wire::Registration registration;
    std::string token;
    std::uint64_t session = 0;  // the newest
    int registrations = 0;
    int states = 0;  // of the newest session
    bool connected = false;
    wire::TaskManagerState state;  // the newest
    std::map<AttemptId, std::vector<wire::VertexMetrics>> metrics;
    std::map<AttemptId, std::vector<std::string>> log;
  };

  ScriptedJobManager(Platform& platform, Options options)
      : platform_(platform), options_(options), next_session_(options.first_session) {
    Result<std::unique_ptr<Listener>> listener =
        platform.network().listen(*parse_socket_address(options_.listen));
    EXPECT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = std::move(*listener);
    executor_ = platform.make_executor({.name = "scripted-job-manager"});
    executor_->spawn(accept(*this));
  }
  ~ScriptedJobManager() { executor_->stop(); }

  std::uint16_t port() const { return listener_->local_address().port; }

  void want(const std::string& worker, const AttemptId& id, Want want) {
    const std::lock_guard lock(mutex_);
    wanted_[worker][id] = std::move(want);
  }
  void desired_state(const std::string& worker, const AttemptId& id,
                     wire::DesiredState desired_state) {
    const std::lock_guard lock(mutex_);
    wanted_.at(worker).at(id).desired_state = desired_state;
  }
  void begin_checkpoint(const std::string& worker, const AttemptId& id, std::uint64_t number,
                        const std::string& path) {
    const std::lock_guard lock(mutex_);
    wire::CheckpointState& checkpoints = wanted_.at(worker).at(id).checkpoints;
    checkpoints.set_begun(number);
    checkpoints.set_path(path);
  }
  void omit(const std::string& worker, const AttemptId& id) {
    const std::lock_guard lock(mutex_);
    wanted_[worker].erase(id);
  }
  // Sent before the next answer, as it is.
  void inject(const std::string& worker, wire::JobManagerState state) {
    const std::lock_guard lock(mutex_);
    injected_[worker].push_back(std::move(state));
  }
  wire::JobManagerState last_answer(const std::string& worker) const {
    const std::lock_guard lock(mutex_);
    return answers_.at(worker);
  }
  void add_library(std::uint64_t hash, std::string bytes) {
    const std::lock_guard lock(mutex_);
    libraries_[hash] = std::move(bytes);
  }
  void be_silent(bool silent) {
    const std::lock_guard lock(mutex_);
    silent_ = silent;
  }
  void refuse_next(wire::Refusal refusal, int times) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(refusal);
    refusals_ = times;
  }

  Worker worker(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    const auto at = workers_.find(id);
    return at == workers_.end() ? Worker() : at->second;
  }
  // Null-like (state unknown) when it was not named in the newest state.
  wire::AttemptReport report(const std::string& worker_id, const AttemptId& id) const {
    const Worker worker_now = worker(worker_id);
    for (const wire::AttemptReport& report : worker_now.state.attempts()) {
      if (report.job() == id.job && report.attempt() == id.attempt) return report;
    }
    return {};
  }
  wire::AttemptState state(const std::string& worker_id, const AttemptId& id) const {
    return report(worker_id, id).state();
  }
  int library_requests() const {
    const std::lock_guard lock(mutex_);
    return library_requests_;
  }

 private:
  static Task<void> accept(ScriptedJobManager& self) {
    while (true) {
      Result<std::unique_ptr<ByteStream>> stream = co_await self.listener_->accept();
      if (!stream.ok()) co_return;
      MessageStream::Options options;
      options.faults = self.options_.faults;
      auto messages = std::make_shared<MessageStream>(*self.executor_, std::move(*stream), options);
      self.executor_->spawn(serve(self, std::move(messages)));
    }
  }

  static Task<void> serve(ScriptedJobManager& self, std::shared_ptr<MessageStream> stream) {
    const Result<wire::Envelope> hello = co_await stream->receive();
    if (!hello.ok() || !hello->has_hello()) co_return;
    stream->set_limit(max_message_bytes);
    const std::string id = hello->hello().registration().id();
    if (!self.greet(*stream, hello->hello())) co_return;
    const std::uint64_t session = self.worker(id).session;
    while (true) {
      const Result<wire::Envelope> message = co_await stream->receive();
      if (!message.ok()) break;
      if (message->has_task_manager_state()) {
        self.answer(*stream, id, message->task_manager_state());
      } else if (message->has_library_request()) {
        self.give(*stream, message->library_request());
      }
    }
    stream->close();
    const std::lock_guard lock(self.mutex_);
    Worker& worker = self.workers_[id];
    if (worker.session == session) worker.connected = false;
    self.platform_.notify_main();
  }

  bool greet(MessageStream& stream, const wire::Hello& hello) {
    const std::lock_guard lock(mutex_);
    wire::Envelope message;
    if (refusals_ > 0) {
      --refusals_;
      *message.mutable_refusal() = refusal_;
      (void)stream.send(message);  // it may be gone
      return false;
    }
    Worker& worker = workers_[hello.registration().id()];
    const int registrations = worker.registrations + 1;
    worker = {};
    worker.registrations = registrations;
    worker.registration = hello.registration();
    worker.token = hello.token();
    worker.session = next_session_++;
    worker.connected = true;
    wire::Welcome& welcome = *message.mutable_welcome();
    welcome.set_session(worker.session);
    welcome.set_job_manager(4711);
    welcome.set_heartbeat_interval_ms(options_.heartbeat_interval_ms);
    welcome.set_heartbeat_timeout_ms(options_.heartbeat_timeout_ms);
    return stream.send(message).ok();
  }

  void answer(MessageStream& stream, const std::string& id, const wire::TaskManagerState& state) {
    const std::lock_guard lock(mutex_);
    Worker& worker = workers_[id];
    EXPECT_EQ(state.session(), worker.session);
    EXPECT_GT(state.sequence(), worker.state.sequence());
    ++worker.states;
    worker.state = state;
    for (const wire::AttemptReport& report : state.attempts()) keep(worker, report);
    platform_.notify_main();
    if (silent_) return;
    wire::Envelope message;
    for (wire::JobManagerState& injected : injected_[id]) {
      *message.mutable_job_manager_state() = std::move(injected);
      (void)stream.send(message);  // it may be gone
    }
    injected_[id].clear();
    *message.mutable_job_manager_state() = desired(id, worker);
    answers_[id] = message.job_manager_state();
    (void)stream.send(message);  // it may be gone
  }

  static void keep(Worker& worker, const wire::AttemptReport& report) {
    const AttemptId id{report.job(), report.attempt()};
    if (!report.metrics().empty()) {
      worker.metrics[id].assign(report.metrics().begin(), report.metrics().end());
    }
    std::vector<std::string>& log = worker.log[id];
    std::uint64_t number = report.first_log_line();
    for (const wire::LogLine& line : report.log_lines()) {
      EXPECT_LE(number, log.size()) << "a line is missing";
      if (number++ == log.size()) log.push_back(line.text());
    }
  }

  wire::JobManagerState desired(const std::string& id, Worker& worker) {
    wire::JobManagerState state;
    state.set_session(worker.session);
    state.set_sequence(++sequence_);
    state.set_state_seen(worker.state.sequence());
    for (const auto& [attempt, want] : wanted_[id]) {
      wire::Assignment& assignment = *state.add_assignments();
      assignment.set_job(attempt.job);
      assignment.set_attempt(attempt.attempt);
      assignment.set_desired_state(want.desired_state);
      assignment.set_log_lines_seen(worker.log[attempt].size());
      *assignment.mutable_checkpoints() = want.checkpoints;
      for (const wire::AttemptKey& key : worker.state.wanted()) {
        if (key.job() == attempt.job && key.attempt() == attempt.attempt) {
          *assignment.mutable_deployment() = want.deployment;
        }
      }
    }
    return state;
  }

  void give(MessageStream& stream, const wire::LibraryRequest& request) {
    const std::lock_guard lock(mutex_);
    ++library_requests_;
    wire::Envelope message;
    wire::LibraryPiece& piece = *message.mutable_library_piece();
    piece.set_hash(request.hash());
    piece.set_offset(request.offset());
    const auto library = libraries_.find(request.hash());
    if (library != libraries_.end() && request.offset() < library->second.size()) {
      piece.set_total_bytes(library->second.size());
      piece.set_bytes(library->second.substr(request.offset(), options_.piece_bytes));
    }
    (void)stream.send(message);  // it may be gone
  }

  Platform& platform_;
  const Options options_;
  mutable std::mutex mutex_;
  std::uint64_t next_session_;
  std::uint64_t sequence_ = 0;
  std::map<std::string, Worker> workers_;
  std::map<std::string, std::map<AttemptId, Want>> wanted_;
  std::map<std::string, std::vector<wire::JobManagerState>> injected_;
  std::map<std::string, wire::JobManagerState> answers_;
  std::map<std::uint64_t, std::string> libraries_;
  int library_requests_ = 0;
  bool silent_ = false;
  wire::Refusal refusal_;
  int refusals_ = 0;
  std::unique_ptr<Executor> executor_;  // outlives what it watches
  std::unique_ptr<Listener> listener_;
};

}  // namespace hummer
