// ZeroedPages: zeroed memory for a table, in huge pages where they pay, that can
// grow where it lies.
//
// A hash table is read at random places: with pages of 4 KiB nearly every probe
// of a table beyond a few megabytes also misses the TLB. From one huge page
// (2 MiB) on, the memory is aligned to huge pages and the system is asked for
// them; below, it comes from the allocator. Either way it is zero, and aligned to
// a cache line. It is asked of the system here, in one place, since only
// platform/ may.
//
// Growth: addresses (not memory) for several doublings are reserved behind large memory, so that
// growing neither copies nor holds the old and the new at once; fewer where the process may have
// few addresses.
//
// Errors: out of memory ends the process with a message, as operator new would.
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <utility>

namespace hummer {

class ZeroedPages {
 public:
  ZeroedPages() = default;
  explicit ZeroedPages(std::size_t size_bytes);
  ZeroedPages(ZeroedPages&& other) noexcept { swap(other); }
  ZeroedPages& operator=(ZeroedPages&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ZeroedPages();

  void* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  // Zeroed memory up to the new size behind what is there; false: there is no room for it here, and
  // nothing has happened.
  bool grow_in_place(std::size_t size_bytes);

  // Whole pages of it go back to the system until they are written to again, when they are zero.
  // From then on it is no longer in huge pages, which would come back as a whole. REQUIRES:
  // size_bytes() is one huge page or more.
  void give_back(void* begin, std::size_t size_bytes);

  void swap(ZeroedPages& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(reserved_bytes_, other.reserved_bytes_);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::size_t reserved_bytes_ = 0;  // addresses; 0: from the allocator
};

}  // namespace hummer
