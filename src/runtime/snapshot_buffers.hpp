// SnapshotBuffers: the memory that parts of a task's snapshots lie in, on its way to the disk and
// back.
//
// Fresh memory costs more than what is written into it: the system clears it page by page. So
// whoever has written a part gives its memory back. A task keeps as many buffers as its last
// snapshot had under way at once, at most 16 MiB; how many parts are under way the task sees by how
// many hold on to this object.
//
// Thread: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hummer/operator.hpp>

namespace hummer {

class SnapshotBuffers {
 public:
  // Parts that may be under way at once.
  static constexpr std::size_t most = 256;

  // A snapshot begins: what the last one did not need goes.
  void begin() {
    const std::lock_guard lock(mutex_);
    free_.resize(free_.size() - spare_);
    spare_ = free_.size();
  }
  // Of one step's size and a little more; what is in it has no meaning.
  std::string take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::string buffer = std::move(free_.back());
        free_.pop_back();
        spare_ = std::min(spare_, free_.size());
        return buffer;
      }
    }
    return std::string(buffer_bytes, '\0');
  }
  void give_back(std::string buffer) {
    if (buffer.capacity() < buffer_bytes || buffer.capacity() > 2 * buffer_bytes) return;
    buffer.resize(buffer_bytes);
    const std::lock_guard lock(mutex_);
    if (free_.size() < most) free_.push_back(std::move(buffer));
  }

 private:
  static constexpr std::size_t buffer_bytes = default_snapshot_step_bytes + 4096;

  std::mutex mutex_;
  std::vector<std::string> free_;
  std::size_t spare_ = 0;  // the fewest that were free since begin()
};

}  // namespace hummer
