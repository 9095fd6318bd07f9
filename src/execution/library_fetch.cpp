#include "execution/library_fetch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer {

void LibraryFetch::want(std::uint64_t hash, std::uint64_t bytes) {
  const auto done = complete_.find(hash);
  if (done != complete_.end()) {
    if (!done->second.expired()) return;
    complete_.erase(done);
  }
  const auto [at, added] = fetches_.try_emplace(hash);
  Fetch& fetch = at->second;
  if (added) fetch.total_bytes = bytes;
  if (!fetch.failure.ok()) return;
  if (bytes == 0 || bytes > max_library_bytes) {
    fetch.failure = {ErrorCode::limit_exceeded,
                     fmt::format("job library {:016x} has {} bytes; the most is {}", hash, bytes,
                                 max_library_bytes)};
  } else if (bytes != fetch.total_bytes) {
    fetch.failure = {ErrorCode::protocol_error,
                     fmt::format("job library {:016x} is said to have {} bytes and {} bytes", hash,
                                 fetch.total_bytes, bytes)};
  }
}

void LibraryFetch::keep_only(const std::vector<std::uint64_t>& hashes) {
  std::erase_if(fetches_, [&](const auto& fetch) {
    return std::find(hashes.begin(), hashes.end(), fetch.first) == hashes.end();
  });
  std::erase_if(complete_, [](const auto& done) { return done.second.expired(); });
}

void LibraryFetch::connection_changed() {
  for (auto& [hash, fetch] : fetches_) fetch.ask_again = 0;
}

std::vector<wire::LibraryRequest> LibraryFetch::requests(Nanoseconds now) {
  std::vector<wire::LibraryRequest> due;
  for (auto& [hash, fetch] : fetches_) {
    if (!fetch.failure.ok() || fetch.ask_again > now) continue;
    fetch.ask_again = now + library_piece_timeout_ns;
    wire::LibraryRequest& request = due.emplace_back();
    request.set_hash(hash);
    request.set_offset(fetch.bytes.size());
  }
  return due;
}

Nanoseconds LibraryFetch::next_request() const {
  Nanoseconds next = never;
  for (const auto& [hash, fetch] : fetches_) {
    if (fetch.failure.ok()) next = std::min(next, fetch.ask_again);
  }
  return next;
}

bool LibraryFetch::take(const wire::LibraryPiece& piece) {
  const auto at = fetches_.find(piece.hash());
  if (at == fetches_.end() || !at->second.failure.ok()) return false;
  Fetch& fetch = at->second;
  if (piece.total_bytes() == 0) {
    fetch.failure = {ErrorCode::not_found,
                     fmt::format("the JobManager has no job library {:016x} (any more); submit the "
                                 "job again",
                                 piece.hash())};
    return true;
  }
  if (piece.offset() != fetch.bytes.size() || piece.bytes().empty()) return false;
  if (piece.total_bytes() != fetch.total_bytes ||
      piece.bytes().size() > fetch.total_bytes - fetch.bytes.size()) {
    fetch.failure = {ErrorCode::protocol_error,
                     fmt::format("job library {:016x} has {} bytes, but a piece of {} from {} "
                                 "speaks of {}",
                                 piece.hash(), fetch.total_bytes, piece.bytes().size(),
                                 piece.offset(), piece.total_bytes())};
    return true;
  }
  // Memory grows with what arrives, not with what was announced.
  fetch.bytes += piece.bytes();
  fetch.ask_again = 0;
  return true;
}

Result<LibraryBytes> LibraryFetch::result(std::uint64_t hash) {
  if (const auto done = complete_.find(hash); done != complete_.end()) {
    if (LibraryBytes bytes = done->second.lock()) return bytes;
  }
  const auto at = fetches_.find(hash);
  if (at == fetches_.end()) return LibraryBytes();
  Fetch& fetch = at->second;
  if (!fetch.failure.ok()) {
    Status failure = std::move(fetch.failure);
    fetches_.erase(at);
    return failure;
  }
  if (fetch.bytes.size() < fetch.total_bytes) return LibraryBytes();
  auto bytes = std::make_shared<const std::string>(std::move(fetch.bytes));
  fetches_.erase(at);
  complete_[hash] = bytes;
  return LibraryBytes(bytes);
}

}  // namespace hummer
