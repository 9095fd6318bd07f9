// LibraryStore: job libraries as bytes, by the XXH3-64 of their content.
//
// A library arrives in pieces, in order; a piece that begins elsewhere is answered with where to go
// on, so an interrupted upload resumes and a repeated piece does no harm. A whole one is held
// against its hash and dropped when it is damaged. Libraries of live jobs stay; of the others
// (also unfinished uploads, with their announced length) so many bytes are kept, the longest unused
// go first.
//
// Pure; no clock: "unused" is counted in uses. Thread: a value.
// Errors: invalid_argument (lengths), limit_exceeded, corrupt_file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <hummer/status.hpp>

#include "protocol/control.pb.h"

namespace hummer {

class LibraryStore {
 public:
  LibraryStore(std::size_t max_library_bytes, std::size_t max_unused_bytes)
      : max_library_bytes_(max_library_bytes), max_unused_bytes_(max_unused_bytes) {}

  // How much of it is there now. With corrupt_file nothing is.
  Result<std::uint64_t> upload(const wire::LibraryPiece& piece);
  bool complete(std::uint64_t hash) const;
  // Bytes of an upload so far.
  std::uint64_t uploaded(std::uint64_t hash) const;
  // From `offset` on, as much as one message should hold; total_bytes 0 when it is not here.
  void piece(std::uint64_t hash, std::uint64_t offset, wire::LibraryPiece& into);

  // A whole one, from the journal. REQUIRES: a hold follows.
  void put(std::uint64_t hash, std::string bytes);
  // Of a whole one. Shared with its reader for as long as that needs it.
  std::shared_ptr<const std::string> bytes(std::uint64_t hash) const;

  // A live job needs it. REQUIRES: complete(hash); as many releases as holds.
  void hold(std::uint64_t hash);
  void release(std::uint64_t hash);

  std::size_t unused_bytes() const { return unused_bytes_; }
  std::size_t max_library_bytes() const { return max_library_bytes_; }

 private:
  struct Library {
    std::shared_ptr<std::string> bytes = std::make_shared<std::string>();  // grows until complete
    std::uint64_t total_bytes = 0;
    std::uint64_t last_use = 0;
    int holds = 0;
    bool complete = false;
  };
  void erase(std::map<std::uint64_t, Library>::iterator library);
  // Makes room among the unused ones; spares `spared`.
  void make_room(std::uint64_t bytes, std::uint64_t spared);

  const std::size_t max_library_bytes_;
  const std::size_t max_unused_bytes_;
  std::map<std::uint64_t, Library> libraries_;
  std::size_t unused_bytes_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace hummer
