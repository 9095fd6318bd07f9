// restore_own_groups: how much of a savepoint a restore reads, at the same parallelism or another.
//
//   restore_own_groups --keys 4000000 --save --parallelism 4 --checkpoint-dir DIR
//   restore_own_groups --keys 4000000 --parallelism 3 --checkpoint-dir DIR --restore SAVEPOINT
//
// A value of --value-bytes for each key, in a keyed function's state. With --save the job ends with
// a savepoint in DIR once all keys have one, and its path is printed. Without it the job begins
// with that of --restore, looks up a fourth of the keys, each of which must be there and right, and
// is stopped. One line of JSON: bytes_read (of files by this process, as the system counts them)
// and seconds, both until the first record, resident_mib then, and whether all was right.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include <hummer/hummer.hpp>

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<std::uint64_t> seen{0};
std::atomic<std::uint64_t> kept{0};  // keys that came for the first time
std::atomic<std::uint64_t> wrong{0};

struct KeyOfIndex {
  std::uint64_t keys;
  std::uint64_t operator()(std::uint64_t index) const {
    return index % keys * 0x9E3779B97F4A7C15u;  // one to one
  }
};

std::string value_of(std::uint64_t key, std::size_t bytes) {
  std::string value(bytes, 'v');
  value.replace(0, std::min(bytes, sizeof key), reinterpret_cast<const char*>(&key),
                std::min(bytes, sizeof key));
  return value;
}

struct Remember {
  bool expects = false;
  std::uint64_t value_bytes = 0;
  hummer::ValueState<std::string> value{"value"};
  void process(std::uint64_t key, hummer::KeyedOutput<std::uint64_t>&) {
    const std::string own = value_of(key, value_bytes);
    if (!value.has_value()) {
      wrong.fetch_add(expects ? 1 : 0, std::memory_order_relaxed);
      value.set(own);
      kept.fetch_add(1, std::memory_order_relaxed);
    } else if (value.get_or("") != own) {
      wrong.fetch_add(1, std::memory_order_relaxed);
    }
    seen.fetch_add(1, std::memory_order_relaxed);
  }
};

// A number of a file below /proc/self, behind its name.
std::uint64_t of_process(const char* file, const std::string& name) {
  std::ifstream in(std::string("/proc/self/") + file);
  for (std::string word; in >> word;) {
    std::uint64_t number = 0;
    if (word == name && in >> number) return number;
  }
  return 0;
}

void wait_for(const std::atomic<std::uint64_t>& count, std::uint64_t most,
              const hummer::JobHandle& job) {
  while (count.load(std::memory_order_relaxed) < most && !job.finished()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "10000"));
  const std::uint64_t value_bytes = std::stoull(env.argument_or("value-bytes", "1000"));
  const bool saves = env.flag("save");
  // It goes on until it is stopped.
  env.generate(KeyOfIndex{keys}, {.count = UINT64_MAX, .records_per_second = 2e6})
      .key_by(hummer::identity)
      .process(Remember{.expects = !saves, .value_bytes = value_bytes})
      .uid("values")
      .for_each([](std::uint64_t) {});
  const std::uint64_t read_before = of_process("io", "rchar:");
  const Clock::time_point begin = Clock::now();
  hummer::JobHandle job = env.execute_async("restore_own_groups");
  if (saves) {
    wait_for(kept, keys, job);
    const hummer::Result<std::string> path = job.stop_with_savepoint();
    if (!path.ok()) {
      std::fprintf(stderr, "%s\n", path.status().to_string().c_str());
      return 1;
    }
    std::printf("%s\n", path->c_str());
    return job.wait().exit_code();
  }
  wait_for(seen, 1, job);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const std::uint64_t read = of_process("io", "rchar:") - read_before;
  const std::uint64_t resident = of_process("status", "VmRSS:");
  const std::uint64_t looked_up = keys / 4 + 1;
  wait_for(seen, looked_up, job);
  const bool right = seen.load() >= looked_up && wrong.load() == 0;
  job.stop();
  if (const hummer::JobResult result = job.wait(); !result.ok()) return result.exit_code();
  std::printf("{\"bytes_read\": %llu, \"seconds\": %.3f, \"resident_mib\": %llu, \"right\": %s}\n",
              static_cast<unsigned long long>(read), seconds,
              static_cast<unsigned long long>(resident / 1024), right ? "true" : "false");
  return right ? 0 : 1;
}
