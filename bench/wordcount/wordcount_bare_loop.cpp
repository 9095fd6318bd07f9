// wordcount_bare_loop: split_by_bytes() over all lines of a file, and nothing else.
//
//   wordcount_bare_loop [--threads N] FILE
//
// Tells what a user's plain loop costs by itself: nothing is counted, exchanged or written. Each
// word is stored as a view in a small array, the least that anyone can do who is handed it. Threads
// claim pieces of the file, which is mapped and populated piece by piece, as wordcount_handwritten
// does; lines are found with memchr. No engine that runs the same loop can be faster.
// Standard error gets one JSON line; `seconds` begin before the file is opened.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "split_by_bytes.hpp"

namespace {

constexpr std::size_t piece_size = 4 << 20;

[[noreturn]] void fail(const char* what, const char* name) {
  std::fprintf(stderr, "wordcount_bare_loop: %s %s: %s\n", what, name, std::strerror(errno));
  std::exit(1);
}

class StoredWords {
 public:
  void operator()(std::string_view word) { words_[count_++ % words_.size()] = word; }

  std::uint64_t count() const { return count_; }
  const void* data() const { return words_.data(); }

 private:
  std::uint64_t count_ = 0;
  std::array<std::string_view, 1024> words_;
};

std::string_view map_file(const char* name) {
  const int file = ::open(name, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || ::fstat(file, &status) != 0) fail("cannot open", name);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const text = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (text == MAP_FAILED) fail("cannot map", name);
  return {static_cast<const char*>(text), size};
}

// The lines that begin in [begin, end).
void split_piece(std::string_view text, std::size_t begin, std::size_t end, StoredWords& words) {
  ::madvise(const_cast<char*>(text.data() + begin), end - begin, MADV_POPULATE_READ);
  const auto line_end = [text](std::size_t from) {
    const void* const found = std::memchr(text.data() + from, '\n', text.size() - from);
    return found == nullptr
               ? text.size()
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  };
  std::size_t at = begin;
  if (begin > 0) at = line_end(begin - 1) + 1;
  while (at < end) {
    const std::size_t line = line_end(at);
    split_by_bytes(text.substr(at, line - at), words);
    at = line + 1;
  }
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int argc, char** argv) {
  unsigned threads = 2;
  const char* name = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--threads" && i + 1 < argc) {
      threads = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else {
      name = argv[i];
    }
  }
  if (name == nullptr || threads == 0) {
    std::fprintf(stderr, "usage: wordcount_bare_loop [--threads N] FILE\n");
    return 2;
  }

  const double begin_seconds = now_seconds();
  const std::string_view text = map_file(name);
  std::atomic<std::size_t> next_piece{0};
  std::atomic<std::uint64_t> total{0};
  const auto work = [&] {
    StoredWords words;
    for (std::size_t begin = 0;
         (begin = next_piece.fetch_add(1, std::memory_order_relaxed) * piece_size) < text.size();) {
      split_piece(text, begin, std::min(begin + piece_size, text.size()), words);
    }
    // So that the stores are made.
    asm volatile("" : : "r"(words.data()) : "memory");
    total += words.count();
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  std::fprintf(stderr, "{\"engine\": \"bare_loop\", \"seconds\": %.6f, \"words\": %llu}\n",
               now_seconds() - begin_seconds, static_cast<unsigned long long>(total.load()));
  return 0;
}
