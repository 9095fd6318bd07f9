// ChildProcess: a program that runs beside us, fed through a pipe and read from another.
//
//   auto child = ChildProcess::start("tr a-z A-Z");            // by /bin/sh -c
//   while (!input.empty()) {
//     HUMMER_TRY((*child)->exchange(input, output));            // takes from the front of `input`
//     use(output), output.clear();
//   }
//   (*child)->end_input();
//   for (;;) { Result<bool> more = (*child)->read(output); ... }  // until false
//   Result<ChildEnd> end = (*child)->wait();
//
// Both directions go on at once, so a program that writes while we write does not stand still.
// What it says on standard error goes where ours goes. Pipes are closed in other children.
//
// Lifecycle: destroying it kills the program where it still runs, and waits for it. Thread: one.
// Linux only: a simulation has no programs. A Linux platform lives meanwhile, which ignores broken
// pipes.
//
// Errors: io_error, a program that can't be started, or a pipe that fails. One that has closed its
// input is no failure: what it should have been given is dropped.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "platform/time.hpp"

namespace hummer {

struct ChildEnd {
  int exit_code = 0;
  int signal = 0;  // that has ended it; 0: it has ended by itself

  bool ok() const { return exit_code == 0 && signal == 0; }
};

class ChildProcess {
 public:
  // `variables`: NAME=VALUE, added to the environment of this process.
  static Result<std::unique_ptr<ChildProcess>> start(
      const std::string& command, const std::vector<std::string>& variables = {});

  virtual ~ChildProcess() = default;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Writes from the front of `input` and appends what has come to `output`, whichever goes first;
  // waits for either, `wait` at most.
  virtual Status exchange(std::string_view& input, std::string& output, Nanoseconds wait) = 0;
  virtual void end_input() = 0;
  // Appends what has come, waiting for it `wait` at most. False: there is nothing more to come.
  virtual Result<bool> read(std::string& output, Nanoseconds wait) = 0;
  // Until it has ended.
  virtual Result<ChildEnd> wait() = 0;

 protected:
  ChildProcess() = default;
};

}  // namespace hummer
