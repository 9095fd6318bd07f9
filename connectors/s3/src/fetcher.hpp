// Fetcher: pieces of objects, fetched by threads of their own; and a reader that takes them.
//
//   Fetcher fetcher(client);
//   ObjectPieces pieces(fetcher, place, etag, size, wake);
//   if (pieces.are_at_hand(0, 65536)) (void)pieces.read_at(0, into);
//
// Lifecycle: a Fetcher outlives its ObjectPieces; destroying either waits for the piece in hand.
// Thread: ObjectPieces one at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <hummer/s3/client.hpp>

namespace hummer::s3 {

class Fetcher {
 public:
  explicit Fetcher(Client& client) : client_(client) {}
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  Client& client() { return client_; }
  // Calls it on a thread of its own, soon.
  void run(std::function<void()> task);

 private:
  void work();

  Client& client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

class ObjectPieces {
 public:
  ObjectPieces(Fetcher& fetcher, Place place, std::string etag, std::uint64_t size_bytes,
               std::function<void()> wake);
  ~ObjectPieces();
  ObjectPieces(const ObjectPieces&) = delete;
  ObjectPieces& operator=(const ObjectPieces&) = delete;

  // See StoreReader.
  bool are_at_hand(std::uint64_t offset, std::size_t length);
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into);

 private:
  struct Piece {
    std::uint64_t number = 0;  // from the object's begin
    bool ready = false;
    Status status;
    std::string bytes;
  };
  // Fetched from its threads; outlives this where one is being fetched still.
  struct Shared {
    std::mutex mutex;
    std::condition_variable ready;
    std::function<void()> wake;
  };
  // Asks for it, unless it was.
  std::shared_ptr<Piece> want(std::uint64_t number);
  void drop_all_but(std::uint64_t first, std::uint64_t last);

  Fetcher& fetcher_;
  const Place place_;
  const std::string etag_;
  const std::uint64_t size_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::deque<std::shared_ptr<Piece>> pieces_;  // wanted
};

}  // namespace hummer::s3
