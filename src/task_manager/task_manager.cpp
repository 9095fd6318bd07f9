#include "task_manager/task_manager.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "execution/attempt_host.hpp"
#include "job_library/engine_abi.hpp"
#include "net/data_plane.hpp"
#include "platform/find_remote_memory.hpp"
#include "platform/free_memory.hpp"
#include "platform/log_limit.hpp"
#include "platform/memory_limit.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/protocol_version.hpp"
#include "rest/rest_api.hpp"
#include "shuffle/fetch_server.hpp"
#include "shuffle/shuffle_store.hpp"
#include "task_manager/registration.hpp"
#include "task_manager/state_message.hpp"
#include "task_manager/task_manager_metrics.hpp"

namespace hummer {
namespace {

// Changes within this time go out as one state.
constexpr Nanoseconds coalescing_ns = milliseconds(10);
constexpr Nanoseconds stuck_log_interval_ns = seconds(10);
constexpr Nanoseconds farewell_timeout_ns = seconds(1);

// Loading a library may take its time on one TaskManager while the others are ready.
DataPlaneOptions data_plane_options(const TaskManagerOptions& options) {
  DataPlaneOptions plane;
  plane.name = options.id;
  plane.token = options.token;
  plane.tls = options.tls;
  plane.log = Logger(options.log, LogModule::net);
  plane.max_handshakes = 1 << 14;
  plane.unknown_channel_timeout_ns = seconds(60);
  plane.receiver_timeout_ns = seconds(120);
  plane.connect_timeout_ns = seconds(60);
  return plane;
}

std::string machine_name(Platform& platform) {
  const auto file = platform.files().open_for_reading("/proc/sys/kernel/hostname");
  if (!file.ok()) return {};
  std::array<char, 256> bytes{};
  const Result<std::size_t> got = (*file)->read_at(0, bytes);
  if (!got.ok()) return {};
  const std::string_view text(bytes.data(), *got);
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

class TaskManager::State final : public RestBackend {
 public:
  State(Platform& platform, JobLibraries& libraries, TaskManagerOptions options)
      : platform_(platform),
        libraries_(libraries),
        options_(std::move(options)),
        log_(options_.log, LogModule::cluster) {}
  ~State() override;

  Status start();
  void stop();

  const std::string& id() const { return options_.id; }
  bool registered() const { return registered_.load(std::memory_order_acquire); }
  std::size_t attempts() const { return host_ ? host_->live() : 0; }
  std::vector<Held> held() const {
    std::vector<Held> all;
    if (!host_) return all;
    for (auto& [id, slots] : host_->held()) {
      all.push_back({id.job, id.attempt, id.region, std::move(slots)});
    }
    return all;
  }
  Status refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
  }
  const std::vector<std::string>& stuck() const { return stuck_; }
  std::optional<SocketAddress> rest_address() const {
    if (!rest_server_) return std::nullopt;
    return rest_server_->address();
  }

 private:
  // What the HTTP interface asks.
  Task<wire::ClientAnswer> ask(wire::ClientRequest request) override;
  std::string metrics() override;
  Status ready() override;
  std::int64_t wall_time_ms() override { return platform_.wall_time_ms(); }
  std::uint64_t draw() override { return platform_.random().next(); }
  std::uint64_t numbering() const override { return 0; }  // it numbers no jobs
  const ProcessLog* process_log() override { return options_.process_log; }
  Status start_rest();
  Status find_rdma();

  // One registration, until its connection ends.
  struct Session {
    std::unique_ptr<MessageStream> stream;
    wire::Welcome welcome;
    Nanoseconds heard = 0;  // the JobManager, last
    Status end;             // of the connection; ok while it lives
    bool news = false;      // for the sending side
    bool dirty = true;      // a state is to be sent soon
    bool receiving = true;
    std::uint64_t answered = 0;   // sequence of the newest state that the JobManager has answered
    std::uint64_t farewell = 0;   // of the last state; 0: not sent yet
    Nanoseconds give_up = never;  // waiting for its answer
  };

  Task<void> run();
  Task<void> serve(std::shared_ptr<Session> session);
  static Task<void> receive(State& self, std::shared_ptr<Session> session);
  void handle(Session& session, const wire::Envelope& message);
  Status send_due(Session& session, bool last, Nanoseconds& sent, Nanoseconds& next_beat);
  Task<void> await_ends();
  Task<void> pause(Nanoseconds duration);
  void log_left_over();
  RegistrationRequest registration_request() const;
  void note_failure(const Registered& registered);
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  Platform& platform_;
  JobLibraries& libraries_;
  TaskManagerOptions options_;
  const Logger log_;
  std::uint64_t incarnation_ = 0;
  Nanoseconds heard_ = 0;  // the JobManager, last; or the start
  ChangeSignal changed_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> registered_{false};
  std::atomic<bool> finished_{false};  // run() has nothing left to do
  mutable std::mutex mutex_;
  Status refusal_;
  std::vector<std::string> stuck_;
  std::string last_failure_;  // logged once
  Nanoseconds next_stuck_log_ = 0;
  StateMessages messages_;

  std::unique_ptr<Executor> executor_;
  std::unique_ptr<RemoteMemoryDevice> remote_memory_;  // null: none
  std::unique_ptr<Executor> data_executor_;
  std::unique_ptr<DataPlane> data_plane_;
  std::shared_ptr<MemoryAccount> memory_;
  std::unique_ptr<ShuffleStore> shuffle_;
  std::unique_ptr<FetchServer> fetch_server_;
  std::unique_ptr<AttemptHost> host_;
  LogLimit log_limit_;
  std::unique_ptr<RestApi> rest_api_;  // null: no HTTP interface
  std::unique_ptr<HttpServer> rest_server_;
};

Status TaskManager::State::start() {
  incarnation_ = platform_.random().next() | 1;
  if (options_.id.empty()) options_.id = fmt::format("taskmanager-{:08x}", incarnation_ >> 32);
  if (options_.host.empty()) options_.host = machine_name(platform_);
  if (options_.host.empty()) options_.host = options_.id;
  if (options_.slots < 1) {
    return {ErrorCode::invalid_argument,
            fmt::format("a TaskManager with {} slots; it needs at least 1", options_.slots)};
  }
  DataPlaneOptions plane = data_plane_options(options_);
  plane.listen_addresses.clear();
  for (const std::string& text : options_.data_addresses) {
    Result<DataAddress> address = parse_data_address(text);
    if (!address.ok()) return address.status();
    plane.listen_addresses.push_back(std::move(*address));
  }
  if (plane.listen_addresses.empty()) {
    return {ErrorCode::invalid_argument, "a TaskManager needs a data address"};
  }
  HUMMER_TRY(find_rdma());
  shuffle_ = std::make_unique<ShuffleStore>(platform_, options_.spill_directory, log_);
  shuffle_->remove_left_overs();
  fetch_server_ = std::make_unique<FetchServer>(platform_, *shuffle_);
  plane.on_fetch = [this](std::unique_ptr<ByteStream> stream, FetchRequest request) {
    fetch_server_->take(std::move(stream), std::move(request));
  };
  plane.remote_memory =
      options_.remote_memory != nullptr ? options_.remote_memory : remote_memory_.get();
  data_executor_ = platform_.make_executor({.name = "data-plane"});
  data_plane_ = std::make_unique<DataPlane>(platform_, *data_executor_, std::move(plane));
  HUMMER_TRY(data_plane_->start());

  const MemoryLimit limit = effective_memory_limit(platform_, options_.memory_limit_bytes);
  if (limit.somebody_chose()) keep_large_memory_apart();
  if (!limit.from.empty()) {
    log_.info(fmt::format("jobs may hold {} MiB in memory: {}; --memory-limit sets it",
                          limit.bytes >> 20, limit.from));
  }
  memory_ = MemoryAccount::make_root("this worker", limit.bytes, limit.from);
  host_ = std::make_unique<AttemptHost>(AttemptContext{
      &platform_, &libraries_, data_plane_.get(), &changed_, 0, options_.stuck_patience_ns, memory_,
      options_.spill_directory, log_, shuffle_.get()});
  executor_ = platform_.make_executor({.name = "task-manager"});
  heard_ = platform_.now();
  HUMMER_TRY(start_rest());
  executor_->spawn(run());
  return {};
}

Status TaskManager::State::find_rdma() {
  Result<std::unique_ptr<RemoteMemoryDevice>> device =
      find_remote_memory(platform_, options_.rdma_provider);
  if (device.ok()) {
    remote_memory_ = std::move(*device);
    if (remote_memory_ != nullptr) {
      log_.info(fmt::format("data may come and go by one-sided writes over {}",
                            remote_memory_->provider()));
    }
    return {};
  }
  if (options_.rdma_provider != default_rdma_provider) {
    return device.status().with_context("--rdma-provider");
  }
  log_.warning(
      fmt::format("the machine's RDMA devices are not used: {}", device.status().message()));
  return {};
}

void TaskManager::State::stop() {
  if (!executor_ || stopping()) return;
  stopping_.store(true, std::memory_order_release);
  changed_.event.notify();
  const auto over = [this] {
    return finished_.load(std::memory_order_acquire) || (!registered() && host_->live() == 0);
  };
  (void)platform_.run_until(over, platform_.now() + options_.stop_patience_ns);
  executor_->stop();
  if (host_->live() > 0) {
    stuck_ = host_->stuck(platform_.now());
    if (stuck_.empty()) stuck_.emplace_back("a job that has not ended");
    for (const std::string& text : stuck_) log_.error("gave up on " + text);
    return;
  }
  data_plane_->stop();
  data_executor_->stop();
  fetch_server_->stop();
}

// ---- the HTTP interface ----

Status TaskManager::State::start_rest() {
  if (options_.rest_address.empty()) return {};
  RestAccess access;
  access.token = options_.token;
  access.encrypted = options_.tls != nullptr;
  access.names = {host_of(options_.rest_address)};
  rest_api_ = std::make_unique<RestApi>(*this, std::move(access), RestServer::task_manager);
  HttpServerOptions options;
  options.tls = options_.tls;
  options.not_let_in = [](void* context, const Status& why, const SocketAddress& from) {
    State& self = *static_cast<State*>(context);
    if (!self.log_limit_.admit(self.executor_->now())) return;
    self.log_.warning(fmt::format("connection from {} closed: {}{}", from.to_string(),
                                  why.message(), self.log_limit_.suffix()));
  };
  options.context = this;
  rest_server_ = std::make_unique<HttpServer>(*executor_, *rest_api_, std::move(options));
  Status status = rest_server_->start(platform_, options_.rest_address);
  if (!status.ok()) rest_server_.reset();
  return status.ok() ? status : status.with_context("the HTTP interface");
}

Task<wire::ClientAnswer> TaskManager::State::ask(wire::ClientRequest /*request*/) {
  wire::ClientAnswer answer;
  to_message(Status(ErrorCode::not_found,
                    "this is a TaskManager; ask the JobManager at " + options_.job_manager),
             *answer.mutable_failure());
  co_return answer;
}

std::string TaskManager::State::metrics() {
  const Nanoseconds now = executor_->now();
  TaskManagerMetrics metrics;
  metrics.registered = registered();
  metrics.unheard_ns = now - heard_;
  metrics.attempts = host_->samples(now);
  metrics.stuck = host_->stuck(now);
  metrics.data_plane = data_plane_->counts();
  metrics.shuffle = shuffle_->usage();
  metrics.shuffle_sent_bytes = fetch_server_->bytes_sent();
  metrics.memory = memory_->metrics();
  metrics.memory_limit_bytes = memory_->limit_bytes();
  metrics.resident_bytes = platform_.resident_bytes();
  metrics.process_log = options_.process_log;
  return task_manager_metrics(metrics);
}

Status TaskManager::State::ready() {
  if (stopping()) return {ErrorCode::cancelled, "this TaskManager is stopping"};
  if (!registered()) {
    return {ErrorCode::connection_lost, "not registered at " + options_.job_manager};
  }
  return {};
}

// Attempts use the data plane, and notify the control executor.
TaskManager::State::~State() {
  if (executor_) executor_->stop();
  rest_server_.reset();
  host_.reset();
  if (data_plane_) data_plane_->stop();
  if (data_executor_) data_executor_->stop();
  if (fetch_server_) fetch_server_->stop();
}

// ---- registration ----

RegistrationRequest TaskManager::State::registration_request() const {
  RegistrationRequest request;
  request.job_manager = options_.job_manager;
  request.data_addresses = data_plane_->addresses();
  request.faults = options_.faults;
  request.tls = options_.tls;
  request.hello.set_protocol_version(control_protocol_version);
  request.hello.set_token(options_.token);
  request.hello.set_engine_version(std::string(engine_version()));
  wire::Registration& registration = *request.hello.mutable_registration();
  registration.set_id(options_.id);
  registration.set_incarnation(incarnation_);
  registration.set_slots(static_cast<std::uint32_t>(options_.slots));
  registration.set_host(options_.host);
  registration.set_program_hash(options_.program_hash);
  registration.set_abi(std::string(engine_abi()));
  if (const auto rest = rest_address()) registration.set_rest_address(rest->to_string());
  for (const int slot : host_->slots_left_over()) {
    registration.add_slots_held(static_cast<std::uint32_t>(slot));
  }
  return request;
}

Task<void> TaskManager::State::run() {
  Backoff backoff(platform_.random());
  while (!stopping()) {
    RegistrationRequest request = registration_request();
    Registered registered = co_await register_once(platform_, std::move(request));
    if (registered.stream == nullptr) {
      note_failure(registered);
      if (registered.for_good) break;
    } else {
      backoff.reset();
      last_failure_.clear();
      auto session = std::make_shared<Session>();
      session->stream = std::move(registered.stream);
      session->welcome = registered.welcome;
      co_await serve(std::move(session));
      host_->end_session();
      next_stuck_log_ = executor_->now() + stuck_log_interval_ns;
    }
    if (!stopping()) co_await pause(backoff.next());
  }
  co_await await_ends();
  finished_.store(true, std::memory_order_release);
  platform_.notify_main();
}

void TaskManager::State::note_failure(const Registered& registered) {
  const std::string text = registered.status.to_string();
  if (text != last_failure_) log_.warning("not registered: " + text);
  last_failure_ = text;
  if (!registered.for_good) return;
  const std::lock_guard lock(mutex_);
  refusal_ = registered.status;
}

Task<void> TaskManager::State::pause(Nanoseconds duration) {
  const Nanoseconds deadline = executor_->now() + duration;
  bool in_time = true;
  while (in_time && !stopping()) {
    changed_.event.prepare_wait();
    (void)host_->look();
    log_left_over();
    if (stopping()) {
      changed_.event.cancel_wait();
      break;
    }
    in_time = co_await changed_.event.wait_until(deadline);
  }
}

void TaskManager::State::log_left_over() {
  const Nanoseconds now = executor_->now();
  if (now < next_stuck_log_) return;
  next_stuck_log_ = now + stuck_log_interval_ns;
  for (const wire::LeftOver& left : host_->left_over(now)) {
    std::string stuck;
    for (const std::string& text : left.stuck()) stuck += ": " + text;
    log_.warning(fmt::format("{} of a lost session has not ended{}; slot {} is not offered",
                             left.name(), stuck, fmt::join(left.slots(), ", ")));
  }
}

// At the end.
Task<void> TaskManager::State::await_ends() {
  while (true) {
    changed_.event.prepare_wait();
    changed_.take();
    host_->look();
    if (host_->empty()) {
      changed_.event.cancel_wait();
      break;
    }
    log_left_over();
    co_await changed_.event.wait_until(next_stuck_log_);
  }
}

// ---- a session ----

Task<void> TaskManager::State::serve(std::shared_ptr<Session> session) {
  const Nanoseconds timeout = milliseconds(std::max(session->welcome.heartbeat_timeout_ms(), 1u));
  host_->begin_session(session->welcome.session(), session->welcome.job_manager());
  messages_.begin_session(session->welcome.session());
  log_.info(fmt::format("registered at {} as {}, session {}", options_.job_manager, options_.id,
                        session->welcome.session()));
  session->heard = heard_ = executor_->now();
  registered_.store(true, std::memory_order_release);
  executor_->spawn(receive(*this, session));

  Nanoseconds sent = executor_->now() - coalescing_ns;
  Nanoseconds next_beat = executor_->now();
  bool cancelled = false;
  while (session->end.ok()) {
    changed_.event.prepare_wait();
    session->news = false;
    if (changed_.take()) session->dirty = true;
    if (stopping() && !cancelled) {
      cancelled = true;
      host_->cancel_all();
    }
    if (host_->look()) session->dirty = true;
    log_left_over();
    const bool last = cancelled && host_->live() == 0 && session->farewell == 0;
    if (last) next_beat = executor_->now();
    if (executor_->now() - session->heard >= timeout) {
      session->end = {ErrorCode::timed_out,
                      fmt::format("nothing from the JobManager for {} ms", timeout / 1'000'000)};
    }
    if (session->end.ok()) session->end = send_due(*session, last, sent, next_beat);
    if (last) {
      session->farewell = messages_.sequence();
      session->give_up = executor_->now() + farewell_timeout_ns;
    }
    const bool told = session->farewell != 0 && (session->answered >= session->farewell ||
                                                 executor_->now() >= session->give_up);
    if (told || !session->end.ok() || session->news) {
      changed_.event.cancel_wait();
      if (told) break;
      continue;
    }
    Nanoseconds deadline = std::min(
        {next_beat, session->heard + timeout, session->give_up, host_->next_library_request()});
    if (session->dirty) deadline = std::min(deadline, sent + coalescing_ns);
    co_await changed_.event.wait_until(deadline);
  }
  if (!session->end.ok()) log_.warning("lost the JobManager: " + session->end.to_string());
  registered_.store(false, std::memory_order_release);
  session->stream->close();
  while (session->receiving) {
    changed_.event.prepare_wait();
    co_await changed_.event.wait();
  }
}

Status TaskManager::State::send_due(Session& session, bool last, Nanoseconds& sent,
                                    Nanoseconds& next_beat) {
  const Nanoseconds now = executor_->now();
  wire::Envelope message;
  if (now >= next_beat || (session.dirty && now >= sent + coalescing_ns)) {
    session.dirty = false;
    sent = now;
    next_beat = now + milliseconds(std::max(session.welcome.heartbeat_interval_ms(), 1u));
    wire::TaskManagerState& state = *message.mutable_task_manager_state();
    state = messages_.build(host_->reports(now), host_->wanted());
    for (wire::LeftOver& left : host_->left_over(now)) *state.add_left_over() = std::move(left);
    state.set_wants_answer(last);
    HUMMER_TRY(session.stream->send(message));
  }
  for (const wire::LibraryRequest& request : host_->library_requests(now)) {
    *message.mutable_library_request() = request;
    HUMMER_TRY(session.stream->send(message));
  }
  return {};
}

Task<void> TaskManager::State::receive(State& self, std::shared_ptr<Session> session) {
  while (session->end.ok()) {
    const Result<wire::Envelope> message = co_await session->stream->receive();
    if (!session->end.ok()) break;
    if (message.ok()) {
      session->heard = self.heard_ = self.executor_->now();
      self.handle(*session, *message);
    } else {
      session->end = message.status();
    }
    session->news = true;
    self.changed_.event.notify();
  }
  session->receiving = false;
  self.changed_.event.notify();
}

void TaskManager::State::handle(Session& session, const wire::Envelope& message) {
  switch (message.body_case()) {
    case wire::Envelope::kJobManagerState: {
      const wire::JobManagerState& state = message.job_manager_state();
      if (state.session() != session.welcome.session()) return;
      messages_.seen(state.state_seen());
      session.answered = std::max(session.answered, state.state_seen());
      if (host_->apply(state)) session.dirty = true;
      return;
    }
    case wire::Envelope::kLibraryPiece: (void)host_->take_piece(message.library_piece()); return;
    case wire::Envelope::kRefusal:
      session.end = status_from(message.refusal().failure());
      if (session.end.ok())
        session.end = {ErrorCode::cancelled, "the JobManager ended the session"};
      return;
    default: session.end = {ErrorCode::protocol_error, "a message that no TaskManager should get"};
  }
}

TaskManager::TaskManager(Platform& platform, JobLibraries& libraries, TaskManagerOptions options)
    : state_(std::make_unique<State>(platform, libraries, std::move(options))) {}
TaskManager::~TaskManager() {
  // What stop() gave up on uses it until the process ends.
  if (!state_->stuck().empty()) (void)state_.release();
}

Status TaskManager::start() { return state_->start(); }
void TaskManager::stop() { state_->stop(); }
const std::string& TaskManager::id() const { return state_->id(); }
bool TaskManager::registered() const { return state_->registered(); }
std::optional<SocketAddress> TaskManager::rest_address() const { return state_->rest_address(); }
std::size_t TaskManager::attempts() const { return state_->attempts(); }
std::vector<TaskManager::Held> TaskManager::held() const { return state_->held(); }
Status TaskManager::refusal() const { return state_->refusal(); }
const std::vector<std::string>& TaskManager::stuck() const { return state_->stuck(); }

}  // namespace hummer
