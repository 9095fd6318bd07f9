// windows_bare RECORDS KEYS RECORDS_PER_MS SIZE_MS: a count per key and tumbling window
// without an engine: batches of keys and times, one flat table with prefetch, and
// batches of results. The best that we know for one core.
//
// The table has the size that it needs from the start, is never grown, and is cleared while it
// is read out.
#include <sys/mman.h>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "workload.hpp"

namespace {

struct Entry {
  std::uint64_t key;  // plus 1; 0: free
  std::uint64_t count;
};

class Table {
 public:
  explicit Table(std::uint64_t keys) {
    while ((std::uint64_t{1} << bits_) * 3 < keys * 4) ++bits_;
    const std::size_t bytes = sizeof(Entry) << bits_;
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    entries_ = static_cast<Entry*>(memory);
  }
  void count(const std::uint64_t* keys, std::size_t length) {
    constexpr std::size_t group = 64;
    std::uint64_t homes[group];
    for (std::size_t from = 0; from < length; from += group) {
      const std::size_t end = from + group < length ? group : length - from;
      for (std::size_t i = 0; i < end; ++i) {
        homes[i] = ((keys[from + i] + 1) * 0x9E3779B97F4A7C15u) >> (64 - bits_);
        __builtin_prefetch(entries_ + homes[i], 1);
      }
      for (std::size_t i = 0; i < end; ++i) {
        const std::uint64_t key = keys[from + i] + 1;
        std::uint64_t at = homes[i];
        while (entries_[at].key != key && entries_[at].key != 0) {
          at = (at + 1) & ((std::uint64_t{1} << bits_) - 1);
        }
        entries_[at].key = key;
        ++entries_[at].count;
      }
    }
  }
  template <typename Visit>
  void drain(Visit&& visit) {
    for (std::uint64_t i = 0; i < std::uint64_t{1} << bits_; ++i) {
      if (entries_[i].key == 0) continue;
      visit(entries_[i].key - 1, entries_[i].count);
      entries_[i] = {};
    }
  }

 private:
  unsigned bits_ = 6;
  Entry* entries_ = nullptr;
};

struct Result {
  std::uint64_t key;
  std::int64_t start;
  std::int64_t end;
  std::uint64_t count;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "windows_bare RECORDS KEYS RECORDS_PER_MS SIZE_MS\n");
    return 2;
  }
  windows::Workload work;
  work.records = std::strtoull(argv[1], nullptr, 10);
  work.keys = std::strtoull(argv[2], nullptr, 10);
  work.records_per_ms = std::strtoull(argv[3], nullptr, 10);
  work.size_ms = std::strtoll(argv[4], nullptr, 10);
  const auto began = std::chrono::steady_clock::now();
  constexpr std::size_t batch = 1024;
  const windows::KeyOfIndex key_of{work.keys};
  const windows::TimeOfIndex time_of{work.records_per_ms};
  std::vector<std::uint64_t> keys(batch);
  std::vector<std::int64_t> times(batch);
  std::vector<Result> results;
  results.reserve(batch);
  windows::Checksum sum;
  Table table(work.keys);
  std::int64_t end = work.size_ms;
  const auto hand_on = [&] {
    for (const Result& one : results) sum.add(one.key, one.start, one.end, one.count);
    results.clear();
  };
  const auto fire = [&] {
    table.drain([&](std::uint64_t key, std::uint64_t count) {
      results.push_back({key, end - work.size_ms, end, count});
      if (results.size() == batch) hand_on();
    });
    hand_on();
    end += work.size_ms;
  };
  for (std::uint64_t index = 0; index < work.records; index += batch) {
    const std::size_t length =
        work.records - index < batch ? static_cast<std::size_t>(work.records - index) : batch;
    for (std::size_t i = 0; i < length; ++i) keys[i] = key_of(index + i);
    for (std::size_t i = 0; i < length; ++i) times[i] = time_of(index + i);
    std::size_t done = 0;
    while (done < length) {
      std::size_t until = done;
      while (until < length && times[until] < end) ++until;
      table.count(keys.data() + done, until - done);
      done = until;
      if (done < length) fire();
    }
  }
  fire();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  windows::report("bare", work, seconds.count(), sum);
  return 0;
}
