// ShuffleFetcher: brings the chunks of one partition of several shuffle files, one file after the
// other, from this process's store or from the processes that hold them.
//
//   auto fetcher = std::make_shared<ShuffleFetcher>(access, inputs, on_lost);
//   fetcher->start(executor, wake_event);
//   while (fetcher->take(item)) { … }        // false: nothing now; finished() or failure()?
//   fetcher->give_up();
//
// A coroutine on the task's executor reads ahead, a megabyte at most. Files of one holder share a
// connection, which is met as every other one of the data plane: same port, token and TLS. One that
// breaks is made again and goes on behind the chunks that have come, for `patience_ns` without any.
// Each chunk is checked; one that comes damaged is asked for again.
//
// Lost: a file that its holder does not have, that is damaged there, or whose holder can't be
// reached. Then `on_lost` is told which, and the fetch has failed: only whoever leads the job can
// have it made again.
//
// Thread: the task's executor. Ownership: shared with the coroutine, so give_up() before the last
// use of what `access` names; on a stopped executor nothing of it runs. Errors: not_found where a
// file is lost, permission_denied and protocol_error as a handshake.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hummer/buffer.hpp>

#include "net/data_address.hpp"
#include "net/handshake.hpp"
#include "platform/platform.hpp"
#include "platform/tls.hpp"
#include "shuffle/shuffle_store.hpp"

namespace hummer {

// What is read and not yet taken, at most; and a chunk more.
inline constexpr std::size_t shuffle_ahead_bytes = std::size_t{1} << 20;

struct ShuffleInput {
  ShuffleKey key;
  std::uint32_t partition = 0;
  bool is_local = true;  // in this process's store
  DataRoute route;       // else: to its holder
  std::string from;      // for people: "map[1] at worker-2"
};

// What it takes to reach files; all of it outlives the fetchers.
struct ShuffleAccess {
  Platform* platform = nullptr;
  ShuffleStore* store = nullptr;
  std::string token;
  std::shared_ptr<TlsContext> tls;
  Nanoseconds patience_ns = seconds(20);
  Nanoseconds answer_timeout_ns = seconds(20);
};

class ShuffleFetcher : public std::enable_shared_from_this<ShuffleFetcher> {
 public:
  ShuffleFetcher(ShuffleAccess access, std::vector<ShuffleInput> inputs,
                 std::function<void(const ShuffleKey&)> on_lost)
      : access_(std::move(access)), inputs_(std::move(inputs)), on_lost_(std::move(on_lost)) {}

  void start(Executor& executor, WakeEvent& wake_event);

  // Null bytes: the end of one file.
  struct Item {
    BufferRef bytes;
  };
  bool take(Item& item);
  // All of them have been taken.
  bool finished() const { return done_ && ready_.empty(); }
  const Status& failure() const { return failure_; }
  void give_up();

 private:
  static Task<void> run(std::shared_ptr<ShuffleFetcher> self);
  Task<Status> read_local(const ShuffleInput& input);
  Task<Status> read_remote(const ShuffleInput& input);
  // One try, from `chunk` on, which is moved along.
  Task<Status> fetch(const ShuffleInput& input, std::uint64_t& chunk);
  Task<Status> read_answer(std::uint64_t& chunk);
  Task<Status> connect(const ShuffleInput& input);
  Task<Status> await_room();
  Task<void> pause(Nanoseconds duration);
  void push(BufferRef bytes);
  Status lost(const ShuffleInput& input, const Status& why);
  HandshakeWaits waits() const;
  bool given_up() const { return given_up_.load(std::memory_order_acquire); }

  const ShuffleAccess access_;
  const std::vector<ShuffleInput> inputs_;
  const std::function<void(const ShuffleKey&)> on_lost_;
  Executor* executor_ = nullptr;
  WakeEvent* task_event_ = nullptr;
  mutable WakeEvent event_;  // of the coroutine
  std::atomic<bool> given_up_{false};
  std::unique_ptr<ByteStream> stream_;
  std::string connected_to_;
  std::deque<Item> ready_;
  std::size_t ready_bytes_ = 0;
  bool file_is_lost_ = false;  // the last answer says so
  bool done_ = false;
  Status failure_;
};

}  // namespace hummer
