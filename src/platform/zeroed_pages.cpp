#include <hummer/detail/zeroed_pages.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t cache_line_bytes = 64;
// Addresses cost nothing but themselves, of which there are 128 TiB.
constexpr std::size_t reserved_sizes = 1024;  // ten doublings, ...
constexpr std::size_t most_reserved_bytes = std::size_t{64} << 30;
constexpr std::size_t least_reserved_sizes = 8;  // ... or three, of the largest

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Addresses become memory.
void make_usable(void* begin, std::size_t size_bytes) {
  HUMMER_ASSERT(::mprotect(begin, size_bytes, PROT_READ | PROT_WRITE) == 0);
  ::madvise(begin, size_bytes, MADV_HUGEPAGE);  // a request; it may be off
}

}  // namespace

ZeroedPages::ZeroedPages(std::size_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes < huge_page_bytes) {
    const std::size_t rounded = round_up(size_bytes, cache_line_bytes);
    data_ = std::aligned_alloc(cache_line_bytes, rounded);
    HUMMER_ASSERT(data_ != nullptr);
    std::memset(data_, 0, rounded);
    return;
  }
  // mmap aligns to 4 KiB only: take one huge page more and give back what sticks out.
  const std::size_t rounded = round_up(size_bytes, huge_page_bytes);
  const auto reserve = [&](std::size_t bytes) {
    reserved_bytes_ = bytes;
    return ::mmap(nullptr, bytes + huge_page_bytes, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void* room = reserve(std::max(std::min(reserved_sizes * rounded, most_reserved_bytes),
                                least_reserved_sizes * rounded));
  if (room == MAP_FAILED) room = reserve(rounded);  // addresses are limited (ulimit -v)
  HUMMER_ASSERT(room != MAP_FAILED);
  char* const begin = static_cast<char*>(room);
  const std::size_t before = round_up(reinterpret_cast<std::uintptr_t>(begin), huge_page_bytes) -
                             reinterpret_cast<std::uintptr_t>(begin);
  if (before > 0) ::munmap(begin, before);
  if (before < huge_page_bytes) {
    ::munmap(begin + before + reserved_bytes_, huge_page_bytes - before);
  }
  data_ = begin + before;
  make_usable(data_, rounded);
}

ZeroedPages::~ZeroedPages() {
  if (reserved_bytes_ > 0) {
    ::munmap(data_, reserved_bytes_);
  } else {
    std::free(data_);
  }
}

bool ZeroedPages::grow_in_place(std::size_t size_bytes) {
  const std::size_t old_bytes = round_up(size_bytes_, huge_page_bytes);
  const std::size_t new_bytes = round_up(size_bytes, huge_page_bytes);
  if (new_bytes > reserved_bytes_) return false;
  if (new_bytes > old_bytes) {
    make_usable(static_cast<char*>(data_) + old_bytes, new_bytes - old_bytes);
  }
  size_bytes_ = size_bytes;
  return true;
}

void ZeroedPages::give_back(void* begin, std::size_t size_bytes) {
  HUMMER_ASSERT(reserved_bytes_ > 0);
  ::madvise(data_, round_up(size_bytes_, huge_page_bytes), MADV_NOHUGEPAGE);
  // Pages at its ends that it shares with something else stay.
  char* const from = static_cast<char*>(begin);
  const std::size_t before = round_up(reinterpret_cast<std::uintptr_t>(from), page_bytes) -
                             reinterpret_cast<std::uintptr_t>(from);
  if (size_bytes < before + page_bytes) return;
  const std::size_t whole_bytes = (size_bytes - before) / page_bytes * page_bytes;
  HUMMER_ASSERT(::madvise(from + before, whole_bytes, MADV_DONTNEED) == 0);
}

}  // namespace hummer
