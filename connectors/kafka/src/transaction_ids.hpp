// TransactionIds: which numbers of a subtask's transactional ids are free.
//
//   const std::uint32_t number = ids.take();        // the smallest that is free, or a new one
//   …
//   ids.rest(number, last_barrier);                  // its transaction is committed
//   ids.complete(epoch);                             // this checkpoint is
//
// Whoever restores a checkpoint asks the brokers for the transactions that it names, and they know
// but the last one of an id. So an id rests until a checkpoint is complete whose snapshot came
// after the commit, and does not name its transaction any more.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace hummer::kafka {

class TransactionIds {
 public:
  std::uint32_t take() {
    if (free_.empty()) return count_++;
    const std::uint32_t number = *free_.begin();
    free_.erase(free_.begin());
    return number;
  }
  // One that a restored transaction has; those below it are free until they are kept, too.
  void keep(std::uint32_t number) {
    for (; count_ <= number; ++count_) free_.insert(count_);
    free_.erase(number);
  }
  void rest(std::uint32_t number, std::uint64_t last_barrier) {
    resting_.emplace_back(last_barrier, number);
  }
  void complete(std::uint64_t epoch) {
    std::erase_if(resting_, [&](const auto& each) {
      if (each.first >= epoch) return false;
      free_.insert(each.second);
      return true;
    });
  }
  // Numbers from 0 up to it have been taken at some time.
  std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_ = 0;
  std::set<std::uint32_t> free_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> resting_;  // by the last barrier before
};

}  // namespace hummer::kafka
