#include "job_manager/library_store.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <hummer/detail/key_hash.hpp>

namespace hummer {
namespace {

// Of a piece to a TaskManager: what waits for a slow one is held per connection.
constexpr std::uint64_t piece_bytes = 256 * 1024;

}  // namespace

void LibraryStore::erase(std::map<std::uint64_t, Library>::iterator library) {
  unused_bytes_ -= library->second.total_bytes;
  libraries_.erase(library);
}

void LibraryStore::make_room(std::uint64_t bytes, std::uint64_t spared) {
  while (unused_bytes_ + bytes > max_unused_bytes_) {
    auto oldest = libraries_.end();
    for (auto at = libraries_.begin(); at != libraries_.end(); ++at) {
      if (at->second.holds > 0 || at->first == spared) continue;
      if (oldest == libraries_.end() || at->second.last_use < oldest->second.last_use) oldest = at;
    }
    if (oldest == libraries_.end()) return;
    erase(oldest);
  }
}

Result<std::uint64_t> LibraryStore::upload(const wire::LibraryPiece& piece) {
  const std::uint64_t total = piece.total_bytes();
  if (total == 0 || total > max_library_bytes_ || total > max_unused_bytes_) {
    return Status(total == 0 ? ErrorCode::invalid_argument : ErrorCode::limit_exceeded,
                  fmt::format("a job library of {} bytes: it must have from 1 to {}", total,
                              std::min(max_library_bytes_, max_unused_bytes_)));
  }
  auto found = libraries_.find(piece.hash());
  if (found == libraries_.end()) {
    // Not for an announcement alone: memory comes with the bytes.
    if (piece.offset() != 0 || piece.bytes().empty()) return std::uint64_t{0};
    make_room(total, piece.hash());
    found = libraries_.emplace(piece.hash(), Library()).first;
    found->second.total_bytes = total;
    unused_bytes_ += total;
  }
  Library& library = found->second;
  library.last_use = ++uses_;
  if (library.complete) return library.total_bytes;
  if (library.total_bytes != total) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("job library {:016x} was announced with {} bytes, now with {}",
                              piece.hash(), library.total_bytes, total));
  }
  if (piece.offset() != library.bytes->size()) return std::uint64_t{library.bytes->size()};
  if (piece.bytes().size() > total - library.bytes->size()) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("a piece of job library {:016x} goes beyond its {} bytes",
                              piece.hash(), total));
  }
  *library.bytes += piece.bytes();
  if (library.bytes->size() < total) return std::uint64_t{library.bytes->size()};
  const std::uint64_t hash = hash_bytes(library.bytes->data(), library.bytes->size());
  if (hash != piece.hash()) {
    erase(found);
    return Status(ErrorCode::corrupt_file,
                  fmt::format("the job library was damaged on its way: its hash is {:016x}, "
                              "announced was {:016x}; send it again",
                              hash, piece.hash()));
  }
  library.complete = true;
  library.bytes->shrink_to_fit();
  return total;
}

bool LibraryStore::complete(std::uint64_t hash) const {
  const auto found = libraries_.find(hash);
  return found != libraries_.end() && found->second.complete;
}

std::uint64_t LibraryStore::uploaded(std::uint64_t hash) const {
  const auto found = libraries_.find(hash);
  return found == libraries_.end() ? 0 : found->second.bytes->size();
}

void LibraryStore::piece(std::uint64_t hash, std::uint64_t offset, wire::LibraryPiece& into) {
  into.Clear();
  into.set_hash(hash);
  into.set_offset(offset);
  const auto found = libraries_.find(hash);
  if (found == libraries_.end() || !found->second.complete) return;
  Library& library = found->second;
  library.last_use = ++uses_;
  into.set_total_bytes(library.total_bytes);
  if (offset < library.total_bytes) {
    into.set_bytes(library.bytes->substr(offset, piece_bytes));
  }
}

void LibraryStore::put(std::uint64_t hash, std::string bytes) {
  Library& library = libraries_[hash];
  HUMMER_ASSERT(!library.complete);
  library.total_bytes = bytes.size();
  *library.bytes = std::move(bytes);
  library.complete = true;
  library.last_use = ++uses_;
  unused_bytes_ += library.total_bytes;
}

std::shared_ptr<const std::string> LibraryStore::bytes(std::uint64_t hash) const {
  const Library& library = libraries_.at(hash);
  HUMMER_ASSERT(library.complete);
  return library.bytes;
}

void LibraryStore::hold(std::uint64_t hash) {
  Library& library = libraries_.at(hash);
  HUMMER_ASSERT(library.complete);
  if (library.holds++ == 0) unused_bytes_ -= library.total_bytes;
}

void LibraryStore::release(std::uint64_t hash) {
  Library& library = libraries_.at(hash);
  HUMMER_ASSERT(library.holds > 0);
  library.last_use = ++uses_;
  if (--library.holds > 0) return;
  make_room(library.total_bytes, hash);
  unused_bytes_ += library.total_bytes;
}

}  // namespace hummer
