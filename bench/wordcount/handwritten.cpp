// wordcount_handwritten: the word count that Hummer is judged against.
//
//   wordcount_handwritten [--threads N] [--out FILE] [--lower] [--longer-than N]
//                         [--input populate|map|read] [--isa 2|3|4|5] FILE
//
// Threads claim pieces of the file, cut at delimiters, and count into tables of their own; then
// each thread merges and prints one range of hashes. `word<tab>count` lines go to --out, in no
// particular order. Standard error gets one JSON line; its `hash` is the sum over all lines of
// FNV-1a 64 (see result_hash.hpp). `seconds` begin before the file is opened and end when the
// result is written; the hash is computed after that.
//
// The inner loop is in handwritten_kernel.cpp.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "handwritten_kernel.hpp"
#include "result_hash.hpp"

namespace handwritten {
namespace {

constexpr std::size_t readable_past_end = 64;
constexpr std::size_t piece_size = 4 << 20;

enum class Input { map, populate, read };

struct Options {
  std::string file;
  std::string out;
  unsigned threads = 2;
  unsigned isa = 0;
  Input input = Input::populate;
  std::size_t read_size = 256 << 10;
  Variant variant;
};

[[noreturn]] void fail(const char* what, const std::string& name) {
  std::fprintf(stderr, "wordcount_handwritten: %s %s: %s\n", what, name.c_str(),
               std::strerror(errno));
  std::exit(1);
}

CountFunction choose_kernel(unsigned& isa) {
  __builtin_cpu_init();
  unsigned best = 2;
  if (__builtin_cpu_supports("x86-64-v3")) best = 3;
  if (best == 3 && __builtin_cpu_supports("x86-64-v4")) best = 4;
  if (best == 4 && __builtin_cpu_supports("avx512vbmi2")) best = 5;
  if (isa == 0 || isa > best) isa = best;
  return isa == 5 ? v5::count : isa == 4 ? v4::count : isa == 3 ? v3::count : v2::count;
}

const char* name_of_isa(unsigned isa) {
  static constexpr const char* names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+vbmi2"};
  return names[isa - 2];
}

inline bool is_delimiter(char c) { return static_cast<unsigned char>(c) <= 0x20; }

class TextFile {
 public:
  explicit TextFile(const std::string& name) {
    descriptor_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) fail("cannot open", name);
    size_ = static_cast<std::size_t>(status.st_size);
  }

  // Maps the file over the head of anonymous pages, so that reading past its end gives zeroes.
  void map(const std::string& name) {
    void* room = ::mmap(nullptr, size_ + 2 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) fail("cannot map", name);
    text_ = static_cast<char*>(room);
    if (size_ == 0) return;
    if (::mmap(room, size_, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor_, 0) == MAP_FAILED) {
      fail("cannot map", name);
    }
  }

  int descriptor() const { return descriptor_; }
  std::size_t size() const { return size_; }
  const char* text() const { return text_; }

 private:
  int descriptor_;
  std::size_t size_;
  const char* text_ = nullptr;
};

// A piece's words are those after the first delimiter at or after its begin, up to the first
// delimiter at or after its end.
void count_mapped_piece(const TextFile& file, std::size_t begin, std::size_t end, bool populate,
                        WordTables& tables, CountFunction count, const Variant& variant) {
  const char* text = file.text();
  if (populate) {
    ::madvise(const_cast<char*>(text + begin), end - begin, MADV_POPULATE_READ);
  }
  if (begin > 0) {
    while (begin < end && !is_delimiter(text[begin])) ++begin;
    if (begin == end) return;
  }
  while (end < file.size() && !is_delimiter(text[end])) ++end;
  if (end - begin > INT32_MAX - readable_past_end) {
    std::fprintf(stderr, "wordcount_handwritten: a word of more than 2 GB\n");
    std::exit(1);
  }
  count(tables, text + begin, end - begin, variant);
}

class Reader {
 public:
  Reader(const TextFile& file, std::size_t read_size) : file_(file), read_size_(read_size) {
    capacity_ = read_size * 2;
    buffer_ = static_cast<char*>(allocate_zeroed(capacity_ + readable_past_end));
  }

  void count_piece(std::size_t begin, std::size_t end, WordTables& tables, CountFunction count,
                   const Variant& variant) {
    std::size_t kept = 0;  // bytes of a word begun in the read before
    bool skip = begin > 0;
    std::size_t at = begin;
    while (true) {
      if (capacity_ - kept < read_size_) enlarge(kept);
      const std::size_t wanted = at < end ? std::min(read_size_, end - at) : std::size_t{4096};
      const ssize_t got =
          ::pread(file_.descriptor(), buffer_ + kept, wanted, static_cast<off_t>(at));
      if (got < 0) fail("cannot read", "input");
      char* from = buffer_;
      char* to = buffer_ + kept + got;
      const bool past_end = at >= end;
      const char* scan = buffer_ + kept;
      at += static_cast<std::size_t>(got);
      if (skip) {
        while (from < to && !is_delimiter(*from)) ++from;
        skip = from == to;
        if (skip && at >= end) return;
      }
      if (got == 0) {
        count(tables, from, static_cast<std::size_t>(to - from), variant);
        return;
      }
      if (past_end) {  // only up to the first delimiter
        while (scan < to && !is_delimiter(*scan)) ++scan;
        if (scan < to) {
          count(tables, from, static_cast<std::size_t>(scan - from), variant);
          return;
        }
        kept = static_cast<std::size_t>(to - buffer_);
        continue;
      }
      char* border = to;
      while (border > from && !is_delimiter(border[-1])) --border;
      if (border > from) count(tables, from, static_cast<std::size_t>(border - from), variant);
      kept = static_cast<std::size_t>(to - border);
      std::memmove(buffer_, border, kept);
    }
  }

 private:
  void enlarge(std::size_t kept) {
    char* larger = static_cast<char*>(allocate_zeroed(capacity_ * 2 + readable_past_end));
    std::memcpy(larger, buffer_, kept);
    release(buffer_, capacity_ + readable_past_end);
    buffer_ = larger;
    capacity_ *= 2;
  }

  const TextFile& file_;
  std::size_t read_size_;
  std::size_t capacity_;
  char* buffer_;
};

// The result's text. Grows by reserving addresses, not memory: copying and zeroing a growing
// buffer of 4 KiB pages takes longer than formatting the lines.
class Lines {
 public:
  void reserve(std::size_t size) { begin_ = end_ = static_cast<char*>(allocate_zeroed(size)); }

  void add(std::string_view word, std::uint64_t count) {
    std::memcpy(end_, word.data(), word.size());
    end_ += word.size();
    *end_++ = '\t';
    end_ = std::to_chars(end_, end_ + 20, count).ptr;
    *end_++ = '\n';
    ++count_;
  }

  std::string_view text() const { return {begin_, static_cast<std::size_t>(end_ - begin_)}; }
  std::uint64_t count() const { return count_; }

 private:
  char* begin_ = nullptr;
  char* end_ = nullptr;
  std::uint64_t count_ = 0;
};

// What differs between the four tables when they are merged and printed.
bool same(const ShortEntry& a, const ShortEntry& b) { return a.key == b.key; }
bool same(const MediumEntry& a, const MediumEntry& b) { return a.low == b.low && a.high == b.high; }
bool same(const WideEntry& a, const WideEntry& b) {
  return std::memcmp(a.key, b.key, sizeof(a.key)) == 0;
}
bool same(const LongEntry& a, const LongEntry& b) {
  return a.hash == b.hash && a.length == b.length && std::memcmp(a.bytes, b.bytes, a.length) == 0;
}
std::string_view word_of(const ShortEntry& entry) {
  return {reinterpret_cast<const char*>(&entry.key),
          8 - static_cast<std::size_t>(__builtin_clzll(entry.key)) / 8};
}
std::string_view word_of(const MediumEntry& entry) {
  return {reinterpret_cast<const char*>(&entry.low),
          16 - static_cast<std::size_t>(__builtin_clzll(entry.high)) / 8};
}
std::string_view word_of(const WideEntry& entry) {
  const std::uint64_t last = entry.key[3] != 0 ? entry.key[3] : entry.key[2];
  const std::size_t before = entry.key[3] != 0 ? 24 : 16;
  return {reinterpret_cast<const char*>(entry.key),
          before + 8 - static_cast<std::size_t>(__builtin_clzll(last)) / 8};
}
std::string_view word_of(const LongEntry& entry) { return {entry.bytes, entry.length}; }

// Merges the same table of all threads into the first one's, one hash range per thread.
template <typename Entry>
class Merge {
 public:
  Merge(std::vector<WordTables>& all, Table<Entry> WordTables::* table)
      : all_(all), table_(table), deferred_(all.size()) {}

  // Before the threads: makes room. `grow` leaves a quarter of the slots free at the worst.
  template <typename Grow>
  void make_room(Grow grow_one) {
    std::uint64_t most = 0;
    for (WordTables& tables : all_) most += (tables.*table_).size;
    while (most > target().capacity / 4 * 3) grow_one(target());
  }

  void merge_range(std::size_t thread) {
    for (std::size_t source = 1; source < all_.size(); ++source) {
      const Table<Entry>& from = all_[source].*table_;
      const std::uint64_t begin = border(from.capacity, thread);
      const std::uint64_t end = border(from.capacity, thread + 1);
      for (std::uint64_t i = begin;; ++i) {
        const Entry& entry = from.entries[i];
        if (is_empty(entry)) {
          if (i >= end) break;  // nor did any entry of this range move on further
          continue;
        }
        const std::uint64_t home = hash_of(entry) >> from.shift;
        if (home >= begin && home < end && !add(entry, range_end(thread))) {
          deferred_[thread].push_back(entry);
        }
      }
    }
  }

  // After all threads: what ran over the end of its range.
  void add_deferred() {
    for (const std::vector<Entry>& entries : deferred_) {
      for (const Entry& entry : entries) add(entry, UINT64_MAX);
    }
  }

  void print_range(std::size_t thread, Lines& lines) const {
    const Table<Entry>& table = all_[0].*table_;
    const std::uint64_t end = border(table.capacity, thread + 1);
    for (std::uint64_t i = border(table.capacity, thread);; ++i) {
      const Entry& entry = table.entries[i];
      if (i >= end && (end != table.capacity || is_empty(entry))) break;
      if (is_empty(entry)) continue;
      lines.add(word_of(entry), entry.count);
    }
  }

 private:
  Table<Entry>& target() { return all_[0].*table_; }

  std::uint64_t border(std::uint64_t capacity, std::size_t thread) const {
    return capacity / all_.size() * thread + capacity % all_.size() * thread / all_.size();
  }

  // Where a thread's part of the target ends: the last one's has no end.
  std::uint64_t range_end(std::size_t thread) {
    return thread + 1 == all_.size() ? UINT64_MAX : border(target().capacity, thread + 1);
  }

  bool add(const Entry& entry, std::uint64_t end) {
    Table<Entry>& table = target();
    for (std::uint64_t slot = hash_of(entry) >> table.shift;; ++slot) {
      if (slot == end) return false;
      Entry& found = table.entries[slot];
      if (is_empty(found)) {
        found = entry;
        return true;
      }
      if (same(found, entry)) {
        found.count += entry.count;
        return true;
      }
    }
  }

  std::vector<WordTables>& all_;
  Table<Entry> WordTables::* table_;
  std::vector<std::vector<Entry>> deferred_;
};

struct Result {
  std::vector<Lines> lines;  // one per thread
  std::uint64_t words = 0;
  std::uint64_t distinct = 0;
  double count_seconds = 0;
};

void write_at(int file, const char* data, std::size_t size, std::size_t at,
              const std::string& name) {
  while (size > 0) {
    const ssize_t written = ::pwrite(file, data, size, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", name);
    data += written;
    at += static_cast<std::size_t>(written);
    size -= static_cast<std::size_t>(written);
  }
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result run(const Options& options, CountFunction count) {
  const double begin_seconds = now_seconds();
  TextFile file(options.file);
  if (options.input != Input::read) file.map(options.file);
  int out = -1;
  if (!options.out.empty()) {
    out = ::open(options.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out < 0) fail("cannot create", options.out);
  }

  std::vector<WordTables> tables(options.threads);
  Merge<ShortEntry> shorts(tables, &WordTables::shorts);
  Merge<MediumEntry> mediums(tables, &WordTables::mediums);
  Merge<WideEntry> wides(tables, &WordTables::wides);
  Merge<LongEntry> longs(tables, &WordTables::longs);
  Result result;
  result.lines.resize(options.threads);
  std::atomic<std::size_t> next_piece{0};
  std::barrier counted(options.threads, [&]() noexcept {
    result.count_seconds = now_seconds() - begin_seconds;
    shorts.make_room([](auto& table) { grow(table); });
    mediums.make_room([](auto& table) { grow(table); });
    wides.make_room([](auto& table) { grow(table); });
    longs.make_room([](auto& table) { grow(table); });
  });
  std::barrier merged(options.threads, [&]() noexcept {
    shorts.add_deferred();
    mediums.add_deferred();
    wides.add_deferred();
    longs.add_deferred();
  });
  std::barrier printed(options.threads);

  const auto work = [&](std::size_t thread) {
    WordTables& own = tables[thread];
    prepare(own);
    Reader* reader = options.input == Input::read ? new Reader(file, options.read_size) : nullptr;
    while (true) {
      const std::size_t begin = next_piece.fetch_add(1, std::memory_order_relaxed) * piece_size;
      if (begin >= file.size()) break;
      const std::size_t end = std::min(begin + piece_size, file.size());
      if (reader != nullptr) {
        reader->count_piece(begin, end, own, count, options.variant);
      } else {
        count_mapped_piece(file, begin, end, options.input == Input::populate, own, count,
                           options.variant);
      }
    }
    delete reader;
    counted.arrive_and_wait();
    shorts.merge_range(thread);
    mediums.merge_range(thread);
    wides.merge_range(thread);
    longs.merge_range(thread);
    merged.arrive_and_wait();
    Lines& lines = result.lines[thread];
    lines.reserve(file.size() * 23 + 4096);  // one letter, a blank: "x\t" and 20 digits at most
    shorts.print_range(thread, lines);
    mediums.print_range(thread, lines);
    wides.print_range(thread, lines);
    longs.print_range(thread, lines);
    printed.arrive_and_wait();
    if (out >= 0) {
      std::size_t at = 0;
      for (std::size_t i = 0; i < thread; ++i) at += result.lines[i].text().size();
      write_at(out, lines.text().data(), lines.text().size(), at, options.out);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.threads; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  if (out >= 0 && ::close(out) != 0) fail("cannot close", options.out);
  const double seconds = now_seconds() - begin_seconds;

  for (const WordTables& own : tables) result.words += own.words;
  std::uint64_t hash = 0;
  for (const Lines& lines : result.lines) {
    result.distinct += lines.count();
    hash += result_hash(lines.text()).hash;
  }
  std::fprintf(stderr,
               "{\"engine\": \"handwritten\", \"version\": \"%s\", \"seconds\": %.6f, "
               "\"count_seconds\": %.6f, \"gb_per_second\": %.3f, \"words\": %llu, "
               "\"distinct\": %llu, \"hash\": \"%016llx\"}\n",
               name_of_isa(options.isa), seconds, result.count_seconds,
               static_cast<double>(file.size()) / seconds / 1e9,
               static_cast<unsigned long long>(result.words),
               static_cast<unsigned long long>(result.distinct),
               static_cast<unsigned long long>(hash));
  return result;
}

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: wordcount_handwritten [--threads N] [--out FILE] [--lower] "
               "[--longer-than N] [--input map|populate|read] [--isa 2|3|4|5] FILE\n");
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&]() -> const char* {
      if (++i == argc) usage();
      return argv[i];
    };
    const auto number = [&] {
      return static_cast<std::uint32_t>(std::strtoul(value(), nullptr, 10));
    };
    if (name == "--threads") {
      options.threads = number();
    } else if (name == "--out") {
      options.out = value();
    } else if (name == "--lower") {
      options.variant.lower_case = true;
    } else if (name == "--longer-than") {
      options.variant.longer_than = number();
    } else if (name == "--isa") {
      options.isa = number();
    } else if (name == "--read-size") {
      options.read_size = number();
    } else if (name == "--input") {
      const std::string_view input = value();
      options.input = input == "map"        ? Input::map
                      : input == "populate" ? Input::populate
                      : input == "read"     ? Input::read
                                            : (usage(), Input::map);
    } else if (name.starts_with("--") || !options.file.empty()) {
      usage();
    } else {
      options.file = name;
    }
  }
  if (options.file.empty() || options.threads == 0 || options.threads > 256) usage();
  return options;
}

}  // namespace
}  // namespace handwritten

int main(int argc, char** argv) {
  handwritten::Options options = handwritten::parse(argc, argv);
  const handwritten::CountFunction count = handwritten::choose_kernel(options.isa);
  handwritten::run(options, count);
}
