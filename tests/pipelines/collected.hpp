// Collected<T>: where the records of a test's pipeline end up, from any number of
// sink subtasks.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <hummer/hummer.hpp>

namespace hummer {

template <typename T>
class Collected {
 public:
  auto sink() const {
    return [shared = shared_](const auto& record) {
      const std::lock_guard lock(shared->mutex);
      shared->records.emplace_back(record);
    };
  }
  std::vector<T> in_order() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->records;
  }
  std::vector<T> sorted() const {
    std::vector<T> records = in_order();
    std::sort(records.begin(), records.end());
    return records;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<T> records;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace hummer
