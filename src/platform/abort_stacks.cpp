#include "platform/abort_stacks.hpp"

#include <csignal>
#include <mutex>
#include <string_view>

#include <execinfo.h>
#include <unistd.h>

namespace hummer {
namespace {

constexpr int most_frames = 64;

// When it returns, abort() ends the process.
void write_stack(int) {
  constexpr std::string_view head = "Aborted in native code, at:\n";
  void* frames[most_frames];
  const int count = ::backtrace(frames, most_frames);
  static_cast<void>(::write(STDERR_FILENO, head.data(), head.size()) < 0);
  ::backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

void set_handler() {
  struct sigaction before{};
  if (::sigaction(SIGABRT, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  // The first call loads a library, which the handler must not.
  void* frame[1];
  static_cast<void>(::backtrace(frame, 1));
  struct sigaction own{};
  own.sa_handler = &write_stack;
  own.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGABRT, &own, nullptr);
}

}  // namespace

void write_stacks_of_aborts() {
  static std::once_flag once;
  std::call_once(once, &set_handler);
}

}  // namespace hummer
