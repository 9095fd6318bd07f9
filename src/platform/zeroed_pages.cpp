#include <hummer/zeroed_pages.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t cache_line_bytes = 64;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

void* allocate_zeroed_pages(std::size_t size_bytes) {
  if (size_bytes < huge_page_bytes) {
    const std::size_t rounded = round_up(size_bytes, cache_line_bytes);
    void* memory = std::aligned_alloc(cache_line_bytes, rounded);
    HUMMER_ASSERT(memory != nullptr);
    return std::memset(memory, 0, rounded);
  }
  // mmap aligns to 4 KiB only: take one huge page more and give back what sticks out.
  const std::size_t rounded = round_up(size_bytes, huge_page_bytes);
  void* room = ::mmap(nullptr, rounded + huge_page_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  HUMMER_ASSERT(room != MAP_FAILED);
  char* const begin = static_cast<char*>(room);
  const std::size_t before = round_up(reinterpret_cast<std::uintptr_t>(begin), huge_page_bytes) -
                             reinterpret_cast<std::uintptr_t>(begin);
  if (before > 0) ::munmap(begin, before);
  if (before < huge_page_bytes) ::munmap(begin + before + rounded, huge_page_bytes - before);
  ::madvise(begin + before, rounded, MADV_HUGEPAGE);  // a wish; it may be off
  return begin + before;
}

void free_zeroed_pages(void* memory, std::size_t size_bytes) {
  if (memory == nullptr) return;
  if (size_bytes < huge_page_bytes) {
    std::free(memory);
  } else {
    ::munmap(memory, round_up(size_bytes, huge_page_bytes));
  }
}

}  // namespace hummer
