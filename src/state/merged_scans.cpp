#include <algorithm>
#include <utility>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "state/run_scans.hpp"

namespace hummer {
namespace {

class MergedScans final : public SpilledScan {
 public:
  MergedScans(std::vector<std::unique_ptr<SpilledScan>> scans, SpilledCombine combine)
      : scans_(std::move(scans)), combine_(std::move(combine)) {
    for (std::size_t i = 0; i < scans_.size(); ++i) used_.push_back(i);
  }
  Result<bool> prepare() override {
    for (const std::size_t scan : used_) {
      Result<bool> prepared = scans_[scan]->prepare();
      if (!prepared.ok() || !*prepared) return prepared;
    }
    return true;
  }
  Result<bool> next() override {
    for (const std::size_t scan : used_) {
      const Result<bool> found = scans_[scan]->next();
      if (!found.ok()) return found.status();
      if (*found) push(scan);
    }
    used_.clear();
    if (waiting_.empty()) return false;
    entry_ = scans_[pop()]->entry();
    if (waiting_.empty() || !same_key(first(), entry_)) return true;
    together_ = entry_.value;
    while (!waiting_.empty() && same_key(first(), entry_)) {
      both_.clear();
      if (!combine_(together_, first().value, both_)) {
        return Status(ErrorCode::corrupt_record, "two values of a key cannot be put together");
      }
      together_.swap(both_);
      (void)pop();
    }
    entry_.value = together_;
    return true;
  }
  const SpilledEntry& entry() const override { return entry_; }

 private:
  // A scan that has an entry.
  struct Waiting {
    OrderNumber order;
    std::size_t scan;
  };

  const SpilledEntry& first() const { return scans_[waiting_.front().scan]->entry(); }
  // The heap's order: the least key comes first, of equal ones that of the first scan.
  auto later() const {
    return [this](const Waiting& a, const Waiting& b) {
      if (a.order != b.order) return a.order > b.order;
      const int compared = scans_[a.scan]->entry().key.compare(scans_[b.scan]->entry().key);
      return compared != 0 ? compared > 0 : b.scan < a.scan;
    };
  }
  void push(std::size_t scan) {
    waiting_.push_back({order_number(scans_[scan]->entry()), scan});
    std::push_heap(waiting_.begin(), waiting_.end(), later());
  }
  std::size_t pop() {
    std::pop_heap(waiting_.begin(), waiting_.end(), later());
    used_.push_back(waiting_.back().scan);
    waiting_.pop_back();
    return used_.back();
  }

  const std::vector<std::unique_ptr<SpilledScan>> scans_;
  const SpilledCombine combine_;
  std::vector<Waiting> waiting_;   // a heap
  std::vector<std::size_t> used_;  // those whose entry went out
  SpilledEntry entry_;
  std::string together_;
  std::string both_;
};

}  // namespace

std::unique_ptr<SpilledScan> merge_scans(std::vector<std::unique_ptr<SpilledScan>> scans,
                                         SpilledCombine combine) {
  return std::make_unique<MergedScans>(std::move(scans), std::move(combine));
}

}  // namespace hummer
