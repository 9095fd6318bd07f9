// LibraryFetch: the bytes of job libraries, pulled from the JobManager piece by piece.
//
// One request per library is under way at a time, for the bytes from the first that is missing; it
// is repeated when no piece came in time. Pieces that are not the next one are dropped. Several
// jobs that want one library share one fetch, also one that has just been completed and that a job
// still holds.
//
// Pure: the clock is given, messages are handed in and out. Thread: one.
// Errors: not_found when the JobManager says that it has none (a piece of no bytes of 0);
// limit_exceeded, protocol_error for a size that cannot be.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "platform/time.hpp"
#include "protocol/control.pb.h"

namespace hummer {

inline constexpr std::uint64_t max_library_bytes = std::uint64_t{1} << 30;
inline constexpr Nanoseconds library_piece_timeout_ns = seconds(1);

// Shared with who loads it.
using LibraryBytes = std::shared_ptr<const std::string>;

class LibraryFetch {
 public:
  // Begins, or joins, the fetch of a library of so many bytes.
  void want(std::uint64_t hash, std::uint64_t bytes);
  // Drops what is under way and not wanted by one of these any more.
  void keep_only(const std::vector<std::uint64_t>& hashes);
  // A new connection: what is under way is asked for again.
  void connection_changed();

  // What to send now; the next call is due at next_request().
  std::vector<wire::LibraryRequest> requests(Nanoseconds now);
  Nanoseconds next_request() const;

  // False: not the piece that is awaited.
  bool take(const wire::LibraryPiece& piece);

  // Null and ok: not yet (or not wanted). A failure is given once and ends the fetch.
  Result<LibraryBytes> result(std::uint64_t hash);

 private:
  struct Fetch {
    std::uint64_t total_bytes = 0;
    std::string bytes;
    Nanoseconds ask_again = 0;
    Status failure;
  };

  std::map<std::uint64_t, Fetch> fetches_;
  std::map<std::uint64_t, std::weak_ptr<const std::string>> complete_;
};

}  // namespace hummer
