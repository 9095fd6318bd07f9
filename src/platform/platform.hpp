// Platform: everything outside the engine, in one place.
//
// Nothing above this module reads a clock, opens a file or socket, starts a
// thread or asks for randomness by itself; it is given a Platform& and uses
// this. Two forms: Linux, and simulated (simulation.hpp: one thread, virtual
// time, seeded faults).
//
// Lifecycle: made first, destroyed last. Stop all executors before any of them
// is destroyed, and all before the platform, which stops its own (background).
//
// Thread: any, except run_until, which belongs to the thread that waits for
// the engine (the main thread of an embedded job).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "platform/executor.hpp"
#include "platform/files.hpp"
#include "platform/network.hpp"
#include "platform/random.hpp"
#include "platform/shared_memory.hpp"
#include "platform/signal_watch.hpp"
#include "platform/time.hpp"

namespace hummer {

enum class RunEnd {
  satisfied,
  timed_out,
  deadlock,  // simulated only: nothing can ever happen again
};

// Memory that this process may come to use, and what says so: a file, or "the machine's memory".
struct MemoryGiven {
  std::size_t bytes = 0;  // 0: unknown
  std::string source;
};

class Platform {
 public:
  virtual ~Platform() = default;

  // Starts it; see executor.hpp.
  virtual std::unique_ptr<Executor> make_executor(ExecutorOptions options) = 0;
  // One of the process, for work that nobody waits for, such as merging what is on disk: short
  // steps, each of which gives way. Made when it is first asked for; stops with the platform.
  virtual Executor& background() = 0;

  virtual Files& files() = 0;
  virtual Network& network() = 0;
  virtual SharedMemory& shared_memory() = 0;
  virtual Random& random() = 0;

  virtual Nanoseconds now() const = 0;
  virtual std::int64_t wall_time_ms() const = 0;

  // Usable by this process; at least 1.
  virtual int processors() const = 0;
  // Raises how many descriptors (files, sockets) this process may have open towards `wanted`, as
  // far as the system lets it. How many it may have then; never lowers.
  virtual Result<std::uint64_t> raise_descriptor_limit(std::uint64_t wanted) = 0;
  virtual MemoryGiven memory_given() const = 0;
  // Memory of this process that is resident now; 0 when unknown.
  virtual std::size_t resident_bytes() const = 0;

  // stream: 1 standard output, 2 standard error. The chunk is written whole, not mixed
  // with others.
  virtual Status write_standard(int stream, std::string_view text) = 0;
  // Whether a person looks at it.
  virtual bool is_terminal(int stream) const = 0;

  // See signal_watch.hpp.
  virtual std::unique_ptr<SignalWatch> watch_signals(Hangup hangup = Hangup::as_always) = 0;

  // Blocks until predicate() or until `deadline` (of now(); `never` allowed). The predicate is
  // called on the calling thread, at the start and after each notify_main(). Simulated: steps
  // the simulation meanwhile, and asks after each step.
  virtual RunEnd run_until(const std::function<bool()>& predicate, Nanoseconds deadline) = 0;
  // Any thread: makes run_until look again.
  virtual void notify_main() = 0;
};

struct LinuxPlatformOptions {
  // The handler that turns a fault in a truncated mapping into Mapping::truncated().
  // Without it such a fault ends the process.
  bool guard_mappings = true;
  // Without it, writing to a pipe that nobody reads ends the process.
  bool ignore_broken_pipes = true;
};

std::unique_ptr<Platform> make_linux_platform(LinuxPlatformOptions options = {});

}  // namespace hummer
