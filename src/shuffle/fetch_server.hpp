// FetchServer: hands out the chunks of this process's shuffle files to those who ask.
//
// A DataPlane lets connections in (token, TLS, limits of strangers) and gives them here with the
// first request; further ones may follow on the same connection. An answer that does not move, or a
// connection on which nothing more is asked, is closed after a minute.
//
// Its disk reads may wait, so they have a thread of their own, made with the first request.
// Lifecycle: destroyed, or stop(), before the store. Thread: any.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "net/frame.hpp"
#include "platform/network.hpp"
#include "platform/platform.hpp"
#include "shuffle/shuffle_store.hpp"

namespace hummer {

class FetchServer {
 public:
  FetchServer(Platform& platform, ShuffleStore& store) : platform_(platform), store_(store) {}
  ~FetchServer() { stop(); }
  FetchServer(const FetchServer&) = delete;
  FetchServer& operator=(const FetchServer&) = delete;

  // A detached stream.
  void take(std::unique_ptr<ByteStream> stream, FetchRequest request);
  void stop();
  std::uint64_t bytes_sent() const { return bytes_sent_.load(std::memory_order_relaxed); }

 private:
  static Task<void> serve(FetchServer& self, std::unique_ptr<ByteStream> stream,
                          FetchRequest request);
  Task<Status> answer(ByteStream& stream, FetchRequest request, WakeEvent& event);

  Platform& platform_;
  ShuffleStore& store_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> bytes_sent_{0};
  std::mutex mutex_;
  std::unique_ptr<Executor> executor_;  // null until somebody asks
};

}  // namespace hummer
