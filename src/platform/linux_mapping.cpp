#include "platform/linux_mapping.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <utility>

#include "platform/fault_guard.hpp"
#include "platform/system_error.hpp"

namespace hummer {

Result<std::unique_ptr<Mapping>> LinuxMapping::make(std::shared_ptr<const Descriptor> file,
                                                    const std::string& path, std::uint64_t offset,
                                                    std::size_t length, bool guarded) {
  struct stat information{};
  if (::fstat(file->number(), &information) != 0) return file_failure(errno, "map", path);
  const auto file_size = static_cast<std::uint64_t>(information.st_size);
  if (offset > file_size || length > file_size - offset) {
    return Status(ErrorCode::file_changed, "cannot map '" + path + "' up to byte " +
                                               std::to_string(offset + length) + ": it has " +
                                               std::to_string(file_size) + " bytes");
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t lead = offset % page;
  const std::size_t used = lead + length;
  auto mapping = std::unique_ptr<LinuxMapping>(new LinuxMapping());
  mapping->file_bytes_ = (used + page - 1) / page * page;
  // Bytes behind the end within the last page are readable; where fewer than promised are
  // left, an anonymous page follows.
  const bool needs_tail = mapping->file_bytes_ - used < Mapping::readable_past_end;
  const std::size_t total = mapping->file_bytes_ + (needs_tail ? page : 0);
  void* base = ::mmap(nullptr, total, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return file_failure(errno, "map", path);
  mapping->base_ = static_cast<char*>(base);
  mapping->total_bytes_ = total;
  if (length > 0) {
    // Private: some single-address-space kernels have no shared file mappings.
    void* placed = ::mmap(base, mapping->file_bytes_, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                          file->number(), static_cast<off_t>(offset - lead));
    if (placed == MAP_FAILED) return file_failure(errno, "map", path);
    if (guarded) {
      mapping->guard_slot_ = guard_range(base, mapping->file_bytes_);
      if (mapping->guard_slot_ < 0) {
        return Status(ErrorCode::limit_exceeded,
                      "cannot map '" + path + "': too many mappings at once");
      }
    }
  }
  mapping->file_ = std::move(file);
  mapping->data_ = mapping->base_ + lead;
  mapping->size_ = length;
  mapping->end_offset_ = offset + length;
  return std::unique_ptr<Mapping>(std::move(mapping));
}

LinuxMapping::~LinuxMapping() {
  if (guard_slot_ >= 0) release_range(guard_slot_);
  if (base_ != nullptr) ::munmap(base_, total_bytes_);
}

bool LinuxMapping::truncated() const {
  if (guard_slot_ >= 0 && range_faulted(guard_slot_)) return true;
  // A cut within the last page raises no fault: the rest of that page just reads as zero.
  struct stat information{};
  return ::fstat(file_->number(), &information) == 0 &&
         static_cast<std::uint64_t>(information.st_size) < end_offset_;
}

void LinuxMapping::prefault(std::size_t offset, std::size_t length) {
#if defined(MADV_POPULATE_READ)
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto lead = static_cast<std::size_t>(data_ - base_);
  const std::size_t begin = (lead + offset) / page * page;
  const std::size_t end = std::min(file_bytes_, lead + std::min(size_, offset + length));
  if (begin < end) ::madvise(base_ + begin, end - begin, MADV_POPULATE_READ);
#else
  (void)offset, (void)length;
#endif
}

void LinuxMapping::release_before(std::size_t end) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto lead = static_cast<std::size_t>(data_ - base_);
  const std::size_t bytes = (lead + std::min(end, size_)) / page * page;
  if (bytes > 0) ::madvise(base_, bytes, MADV_DONTNEED);
}

}  // namespace hummer
