// SignalWatch: requests from outside to end (SIGINT, SIGTERM), for programs that want to end in
// good order, and to read their files again (SIGHUP), for those that serve.
//
// While a watch lives, the first such signal is noted and wakes Platform::run_until; a second one
// ends the process at once with exit code 130 (SIGINT) or 143 (SIGTERM), whatever it is doing: that
// is what a person wants who presses Ctrl-C again. Without a watch the signals do what they always
// do. A signal that was ignored when the process started stays ignored (a job under nohup),
// and one that the program handles itself is left to it.
//
// A hangup is watched only by who asks for it; any number of them is one request.
//
// Made by Platform::watch_signals. Lifecycle: one at a time receives; another one meanwhile never
// does. Destroying it gives the signals back. Thread: received() from any. Simulated: never
// receives one.
#pragma once

namespace hummer {

// What SIGHUP means while a watch lives.
enum class Hangup { as_always, asks_to_reload };

class SignalWatch {
 public:
  virtual ~SignalWatch() = default;
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // The number of the first signal since the watch was made; 0: none.
  virtual int received() const = 0;
  // Whether there was a hangup since the last call. One thread.
  virtual bool take_hangup() = 0;
  // What a process that ends because of it returns: 128 + its number; 0: none was received.
  int exit_code() const {
    const int signal = received();
    return signal == 0 ? 0 : 128 + signal;
  }

 protected:
  SignalWatch() = default;
};

class DeafSignalWatch final : public SignalWatch {
 public:
  int received() const override { return 0; }
  bool take_hangup() override { return false; }
};

}  // namespace hummer
