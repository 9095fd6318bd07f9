#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "platform/child_process.hpp"
#include "platform/descriptor.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

constexpr std::size_t child_read_bytes = std::size_t{64} << 10;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return socket_failure(errno, "cannot make a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void make_nonblocking(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

int milliseconds_of(Nanoseconds wait) {
  return static_cast<int>(
      std::clamp<Nanoseconds>(wait / milliseconds(1), 0, std::numeric_limits<int>::max()));
}

class LinuxChildProcess final : public ChildProcess {
 public:
  LinuxChildProcess(pid_t process, Descriptor input, Descriptor output)
      : process_(process), input_(std::move(input)), output_(std::move(output)) {
    make_nonblocking(input_.number());
    make_nonblocking(output_.number());
  }
  ~LinuxChildProcess() override {
    if (process_ < 0) return;
    // With what it has started, as it is the first of its process group.
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  Status exchange(std::string_view& input, std::string& output, Nanoseconds wait) override {
    if (!input_.valid()) {
      input = {};
      return {};
    }
    std::array<pollfd, 2> watched = {
        {{input_.number(), POLLOUT, 0}, {output_.number(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), milliseconds_of(wait)) < 0) {
      return errno == EINTR ? Status() : socket_failure(errno, "cannot wait for a program");
    }
    if (watched[1].revents != 0) HUMMER_TRY(read_some(output));
    if (watched[0].revents != 0) HUMMER_TRY(write_some(input));
    return {};
  }

  void end_input() override { input_.reset(); }

  Result<bool> read(std::string& output, Nanoseconds wait) override {
    if (!output_.valid()) return false;
    pollfd watched = {output_.number(), POLLIN, 0};
    if (::poll(&watched, 1, milliseconds_of(wait)) < 0 && errno != EINTR) {
      return socket_failure(errno, "cannot wait for a program");
    }
    if (watched.revents != 0) HUMMER_TRY(read_some(output));
    return output_.valid();
  }

  Result<ChildEnd> wait() override {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0) {
      if (errno != EINTR) return socket_failure(errno, "cannot wait for a program");
    }
    process_ = -1;
    if (WIFSIGNALED(status)) return ChildEnd{.exit_code = 0, .signal = WTERMSIG(status)};
    return ChildEnd{.exit_code = WEXITSTATUS(status), .signal = 0};
  }

 private:
  Status read_some(std::string& output) {
    if (!output_.valid()) return {};
    const std::size_t size = output.size();
    output.resize(size + child_read_bytes);
    const ssize_t got = ::read(output_.number(), output.data() + size, child_read_bytes);
    const int error = errno;
    output.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) output_.reset();
    if (got >= 0 || error == EAGAIN || error == EINTR) return {};
    return socket_failure(error, "cannot read from a program");
  }

  Status write_some(std::string_view& input) {
    const ssize_t written = ::write(input_.number(), input.data(), input.size());
    if (written >= 0) {
      input.remove_prefix(static_cast<std::size_t>(written));
      return {};
    }
    if (errno == EAGAIN || errno == EINTR) return {};
    if (errno != EPIPE) return socket_failure(errno, "cannot write to a program");
    input_.reset();
    input = {};
    return {};
  }

  pid_t process_;
  Descriptor input_;   // what it reads
  Descriptor output_;  // what it writes
};

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(
    const std::string& command, const std::vector<std::string>& variables) {
  auto input = make_pipe();
  if (!input.ok()) return input.status();
  auto output = make_pipe();
  if (!output.ok()) return output.status();

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input->read.number(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output->write.number(), STDOUT_FILENO);
  // We ignore broken pipes, and a program must not inherit that: `head` ends `yes` by them.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);

  std::vector<std::string> texts;
  for (char** variable = environ; *variable != nullptr; ++variable) texts.emplace_back(*variable);
  texts.insert(texts.end(), variables.begin(), variables.end());
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);
  std::string shell = "/bin/sh", flag = "-c", words = command;
  char* const arguments[] = {shell.data(), flag.data(), words.data(), nullptr};

  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, shell.c_str(), &actions, &attributes, arguments, environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return file_failure(error, "start", command);
  return std::unique_ptr<ChildProcess>(std::make_unique<LinuxChildProcess>(
      process, std::move(input->write), std::move(output->read)));
}

}  // namespace hummer
