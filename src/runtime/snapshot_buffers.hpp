// SnapshotBuffers: the memory that parts of a task's snapshots lie in, on its way to the disk and
// back.
//
// Fresh memory costs more than what is written into it: the system clears it page by page. So
// whoever has written a part gives its memory back. A task keeps as many buffers as its last
// snapshot had under way at once, 4 MiB at most, and less under a small memory limit, but four
// parts always; how many parts are under way the task sees by how many hold on to this object.
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
  static constexpr std::size_t default_most_bytes = std::size_t{4} << 20;

  // REQUIRES: nothing was taken. How large the parts are, about, and what all together may take.
  void set_bytes(std::size_t step, std::size_t most) {
    buffer_bytes_ = step + step / 2 + 4096;
    most_bytes_ = most;
  }
  // Parts that may be under way at once.
  std::size_t most() const { return std::clamp<std::size_t>(most_bytes_ / buffer_bytes_, 4, 256); }

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
    return std::string(buffer_bytes_, '\0');
  }
  void give_back(std::string buffer) {
    if (buffer.capacity() < buffer_bytes_ || buffer.capacity() > 2 * buffer_bytes_) return;
    buffer.resize(buffer_bytes_);
    const std::lock_guard lock(mutex_);
    if (free_.size() < most()) free_.push_back(std::move(buffer));
  }

 private:
  std::size_t buffer_bytes_ = default_snapshot_step_bytes + 4096;
  std::size_t most_bytes_ = default_most_bytes;
  std::mutex mutex_;
  std::vector<std::string> free_;
  std::size_t spare_ = 0;  // the fewest that were free since begin()
};

}  // namespace hummer
