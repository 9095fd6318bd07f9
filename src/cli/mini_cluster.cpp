#include <hummer/testing/mini_cluster.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <sstream>

#include <fmt/format.h>

#include "api/environment_impl.hpp"
#include "cli/cluster_session.hpp"
#include "cli/local_workers.hpp"
#include "job_library/job_libraries.hpp"
#include "job_manager/job_manager.hpp"
#include "protocol/job_status.hpp"

namespace hummer {
namespace {

// The job in the program needs no hash of its file: all processes are this one.
constexpr std::uint64_t own_hash = 1;
constexpr Nanoseconds patience_ns = seconds(20);  // with a job that is to come
constexpr Nanoseconds look_ns = milliseconds(10);

void append_lines(Files& files, const std::string& path, std::vector<std::string>& lines) {
  const auto file = files.open_for_reading(path);
  if (!file.ok()) return;
  std::string text((*file)->size_bytes(), '\0');
  const Result<std::size_t> got = (*file)->read_at(0, text);
  if (!got.ok()) return;
  text.resize(*got);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
}

}  // namespace

class MiniCluster::State {
 public:
  State(JobFunction job, const MiniClusterOptions& options)
      : job_(job), options_(options), platform_(make_linux_platform()) {
    libraries_.add(own_hash, job);
    // Nobody else on the machine is to submit code to a test.
    std::array<char, 16> bytes{};
    platform_->random().fill(bytes);
    for (const char byte : bytes) token_ += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }

  Status start() {
    JobManagerOptions options;
    options.listen_address = "127.0.0.1:0";
    options.heartbeat_interval_ns = milliseconds(200);
    options.token = token_;
    job_manager_ = std::make_unique<JobManager>(*platform_, std::move(options));
    HUMMER_TRY(job_manager_->start());
    address_ = job_manager_->address().to_string();
    for (int i = 0; i < options_.task_managers; ++i) HUMMER_TRY(add());
    return {};
  }

  Status add() {
    TaskManagerOptions options;
    options.id = "task_manager_" + std::to_string(workers_.size());
    options.job_manager = address_;
    options.token = token_;
    options.slots = options_.slots;
    options.host = options.id;  // as if each had a machine of its own
    options.program_hash = own_hash;
    HUMMER_TRY(workers_.add(std::move(options)));
    return workers_.await_registration();
  }

  JobResult run(const std::vector<std::string>& arguments) {
    const std::unique_ptr<Platform> client = make_linux_platform();
    std::vector<const char*> words{"job"};
    for (const std::string& argument : arguments) words.push_back(argument.c_str());
    StreamExecutionEnvironment env(static_cast<int>(words.size()), words.data());
    env.options().platform = client.get();
    env.options().job_manager = address_;
    env.options().token = token_;
    env.options().quiet = true;
    JobOrigin origin;
    origin.library_hash = own_hash;
    origin.library_name = "job";
    origin.program = "job";
    env.impl().origin = std::move(origin);
    JobResult result;
    try {
      result = job_(env);
      if (env.impl().execute_calls == 0 && result.ok()) {
        result.status = check_arguments_so_far(env.impl());
      }
    } catch (const std::exception& error) {
      result.status = {ErrorCode::user_function_failed,
                       std::string("the job function threw: ") + error.what()};
    }
    return result;
  }

  Result<std::string> savepoint(const std::string& directory, bool stop) {
    const std::unique_ptr<Platform> client = make_linux_platform();
    ClusterSession session(*client);
    session.open(address_, {.token = token_, .tls = nullptr});
    const Nanoseconds give_up = client->now() + patience_ns;
    for (;;) {
      const Result<std::vector<std::uint64_t>> jobs = live_jobs(session);
      if (!jobs.ok()) return jobs.status();
      if (jobs->size() == 1) return session.take_savepoint(jobs->front(), directory, stop);
      if (!jobs->empty()) {
        return Status(ErrorCode::invalid_argument,
                      "several jobs run on the test's cluster: a savepoint of which?");
      }
      if (client->now() >= give_up) {
        return Status(ErrorCode::not_found, "no job runs on the test's cluster");
      }
      (void)client->run_until([] { return false; }, client->now() + look_ns);
    }
  }

  static Result<std::vector<std::uint64_t>> live_jobs(ClusterSession& session) {
    wire::ClientRequest request;
    request.mutable_list();
    const Result<wire::ClientAnswer> answer = session.ask(std::move(request));
    if (!answer.ok()) return answer.status();
    std::vector<std::uint64_t> live;
    for (const wire::JobStatus& job : answer->list().jobs()) {
      if (!has_ended(job.state())) live.push_back(job.job());
    }
    return live;
  }

  const JobFunction job_;
  const MiniClusterOptions options_;
  const std::unique_ptr<Platform> platform_;
  BuiltInJobLibraries libraries_;
  std::string token_;
  std::string address_;
  std::unique_ptr<JobManager> job_manager_;
  LocalWorkers workers_{*platform_, libraries_};
};

MiniCluster::MiniCluster(JobFunction job, MiniClusterOptions options)
    : state_(std::make_unique<State>(job, options)) {}

MiniCluster::~MiniCluster() {
  state_->workers_.stop();
  if (state_->job_manager_) state_->job_manager_->stop();
}

Status MiniCluster::start() { return state_->start(); }
JobResult MiniCluster::run(const std::vector<std::string>& arguments) {
  return state_->run(arguments);
}

Result<std::string> MiniCluster::savepoint(const std::string& directory) {
  return state_->savepoint(directory, false);
}
Result<std::string> MiniCluster::stop_with_savepoint(const std::string& directory) {
  return state_->savepoint(directory, true);
}

void MiniCluster::kill_task_manager(std::size_t number) {
  HUMMER_ASSERT(number < state_->workers_.size());
  state_->workers_.kill(number);
}
Status MiniCluster::add_task_manager() { return state_->add(); }
std::size_t MiniCluster::attempts_on(std::size_t task_manager) const {
  HUMMER_ASSERT(task_manager < state_->workers_.size());
  const TaskManager* const one = state_->workers_.at(task_manager);
  return one != nullptr ? one->attempts() : 0;
}

std::vector<std::string> MiniCluster::lines_of(const std::string& path) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  Files& files = platform->files();
  std::vector<std::string> lines;
  const Result<FileInformation> information = files.stat(path);
  if (!information.ok()) return lines;
  if (!information->is_directory) {
    append_lines(files, path, lines);
  } else if (const auto names = files.list_directory(path); names.ok()) {
    for (const std::string& name : *names) {
      if (!name.starts_with('.')) append_lines(files, path + "/" + name, lines);
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace hummer
