// terasort_bare --input FILE --output DIRECTORY [--threads N] [--json]
//
// The best sort of TeraSort's records in memory that we know, without an engine: threads read a
// part of the file each and note key and place of every record; these are divided by the first 10
// bits of their keys among parts that lie in a cache; each part is sorted by the next 22 bits with
// a radix sort, then by insertion for the few that have these in common; and its records are
// gathered and written, one output part per thread.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>
#include <utility>
#include <vector>

#include "program.hpp"
#include "tera_records.hpp"

namespace {

using terasort::key_bytes;
using terasort::record_bytes;

constexpr unsigned part_bits = 10;
constexpr std::size_t parts = std::size_t{1} << part_bits;
constexpr unsigned digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;
constexpr std::size_t read_bytes = 5'000 * record_bytes;
constexpr std::size_t write_bytes = 10'000 * record_bytes;
constexpr std::size_t records_ahead = 24;

struct Entry {
  std::uint64_t prefix;  // the first 8 bytes of the key
  std::uint64_t record;
};

// Memory in huge pages, which come as they are touched.
template <typename T>
T* map_memory(std::size_t count) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  const std::size_t bytes = (count * sizeof(T) + huge - 1) / huge * huge + huge;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) terasort::fail("terasort_bare: no memory");
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<T*>(memory);
}

std::uint64_t prefix_of(const char* key) {
  std::uint64_t word;
  std::memcpy(&word, key, sizeof word);
  return __builtin_bswap64(word);
}

struct Sort {
  std::size_t threads;
  std::uint64_t records;
  char* bytes;
  Entry* unsorted;  // as they come
  Entry* entries;
  std::vector<std::array<std::uint64_t, parts>> next;  // by thread: where entries of a part go
  std::array<std::uint64_t, parts + 1> begin{};        // of each part
  std::barrier<> barrier;

  Sort(std::size_t its_threads, std::uint64_t its_records)
      : threads(its_threads),
        records(its_records),
        bytes(map_memory<char>(its_records * record_bytes)),
        unsorted(map_memory<Entry>(its_records)),
        entries(map_memory<Entry>(its_records)),
        next(its_threads),
        barrier(static_cast<std::ptrdiff_t>(its_threads)) {}

  std::uint64_t share(std::size_t thread) const { return records * thread / threads; }

  void read(const terasort::File& input, std::size_t thread) {
    std::array<std::uint64_t, parts>& counts = next[thread];
    counts.fill(0);
    const std::uint64_t end = share(thread + 1) * record_bytes;
    for (std::uint64_t at = share(thread) * record_bytes; at < end;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(read_bytes, end - at));
      input.read_at(at, bytes + at, size);
      for (std::uint64_t record = at / record_bytes; record < (at + size) / record_bytes;
           ++record) {
        const std::uint64_t prefix = prefix_of(bytes + record * record_bytes);
        unsorted[record] = {prefix, record};
        ++counts[prefix >> (64 - part_bits)];
      }
      at += size;
    }
  }

  // By one thread: counts become places.
  void place_parts() {
    std::uint64_t at = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      begin[part] = at;
      for (std::array<std::uint64_t, parts>& of_thread : next) {
        const std::uint64_t count = of_thread[part];
        of_thread[part] = at;
        at += count;
      }
    }
    begin[parts] = at;
  }

  void divide(std::size_t thread) {
    std::array<std::uint64_t, parts>& to = next[thread];
    for (std::uint64_t i = share(thread); i < share(thread + 1); ++i) {
      entries[to[unsorted[i].prefix >> (64 - part_bits)]++] = unsorted[i];
    }
  }

  bool less(const Entry& a, const Entry& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return std::memcmp(bytes + a.record * record_bytes, bytes + b.record * record_bytes,
                       key_bytes) < 0;
  }

  void sort_part(Entry* from, std::size_t count, std::vector<Entry>& scratch) const {
    scratch.resize(std::max(scratch.size(), count));
    Entry* into = scratch.data();
    for (const unsigned shift : {64 - part_bits - 2 * digit_bits, 64 - part_bits - digit_bits}) {
      std::array<std::uint32_t, digits> to{};
      for (std::size_t i = 0; i < count; ++i) ++to[(from[i].prefix >> shift) & (digits - 1)];
      std::uint32_t place = 0;
      for (std::uint32_t& each : to) place += std::exchange(each, place);
      for (std::size_t i = 0; i < count; ++i) {
        into[to[(from[i].prefix >> shift) & (digits - 1)]++] = from[i];
      }
      std::swap(from, into);
    }
    for (std::size_t i = 1; i < count; ++i) {
      const Entry entry = from[i];
      std::size_t to = i;
      for (; to > 0 && less(entry, from[to - 1]); --to) from[to] = from[to - 1];
      from[to] = entry;
    }
  }

  // The parts that begin in this thread's share.
  void write(const std::string& output, std::size_t thread) {
    const auto first = [&](std::size_t of_thread) {
      return static_cast<std::size_t>(
          std::lower_bound(begin.begin(), begin.end() - 1, share(of_thread)) - begin.begin());
    };
    const std::size_t end = thread + 1 == threads ? parts : first(thread + 1);
    const terasort::File file(terasort::part_path(output, thread), O_WRONLY | O_CREAT | O_TRUNC);
    std::vector<Entry> scratch;
    std::vector<char> buffer(write_bytes);
    std::size_t filled = 0;
    std::uint64_t offset = 0;
    for (std::size_t part = first(thread); part < end; ++part) {
      Entry* const from = entries + begin[part];
      const std::size_t count = begin[part + 1] - begin[part];
      sort_part(from, count, scratch);
      for (std::size_t i = 0; i < count; ++i) {
        if (i + records_ahead < count) {
          const char* ahead = bytes + from[i + records_ahead].record * record_bytes;
          __builtin_prefetch(ahead);
          __builtin_prefetch(ahead + 64);
          __builtin_prefetch(ahead + record_bytes - 1);
        }
        std::memcpy(buffer.data() + filled, bytes + from[i].record * record_bytes, record_bytes);
        filled += record_bytes;
        if (filled == buffer.size()) {
          file.write_at(offset, buffer.data(), filled);
          offset += filled;
          filled = 0;
        }
      }
    }
    file.write_at(offset, buffer.data(), filled);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const terasort::Words words(
      argc, argv, "terasort_bare --input FILE --output DIRECTORY [--threads N] [--json]");
  const auto threads = static_cast<std::size_t>(words.number("threads", 2));
  const std::string output = words.text("output");
  if (threads == 0) terasort::fail("--threads takes 1 or more");
  const terasort::File input(words.text("input"), O_RDONLY);
  const std::uint64_t records = input.size_bytes() / record_bytes;
  terasort::make_output(output);

  const double begin = terasort::seconds_now();
  Sort sort(threads, records);
  double read = 0;
  double divided = 0;
  std::vector<std::thread> workers;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      sort.read(input, thread);
      sort.barrier.arrive_and_wait();
      if (thread == 0) {
        read = terasort::seconds_now();
        sort.place_parts();
      }
      sort.barrier.arrive_and_wait();
      sort.divide(thread);
      sort.barrier.arrive_and_wait();
      if (thread == 0) divided = terasort::seconds_now();
      sort.write(output, thread);
    });
  }
  for (std::thread& worker : workers) worker.join();
  const double end = terasort::seconds_now();
  char more[160];
  std::snprintf(more, sizeof more, ", \"read_seconds\": %.3f, \"divide_seconds\": %.3f",
                read - begin, divided - read);
  char text[160];
  std::snprintf(text, sizeof text, "; reading %.3f s, dividing %.3f s, sorting and writing %.3f s",
                read - begin, divided - read, end - divided);
  terasort::report(words, "terasort_bare", records, end - begin, more, text);
  return 0;
}
