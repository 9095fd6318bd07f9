// IndexRanges: which indexes a source has yet to hand out.
//
// A source whose records are a function of an index is replayed by remembering
// indexes. One range per subtask at the start; after a restore at another
// parallelism a subtask may have several, and takes the one that is furthest
// behind, no further than to the next one: records keep the order of their indexes,
// so that they are no more out of order than before.
//
// Thread: that of the source. Errors: `restore` refuses bytes that make no sense.
#pragma once

#include <cstdint>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/evolving.hpp>
#include <hummer/status.hpp>

namespace hummer {

struct IndexRange {
  std::uint64_t next = 0;
  std::uint64_t end = 0;  // UINT64_MAX: none
  std::uint64_t step = 1;

  bool empty() const { return next >= end; }
  // Its indexes, or `most`: a source asks with every batch, and dividing takes longer than a
  // multiplication.
  std::uint64_t left(std::uint64_t most) const {
    if (empty() || most == 0) return 0;
    std::uint64_t distance = 0;
    const bool too_far = __builtin_mul_overflow(most - 1, step, &distance);
    return too_far || distance > end - next - 1 ? (end - next - 1) / step + 1 : most;
  }
  void advance(std::uint64_t count) { next += count * step; }
};

class IndexRanges {
 public:
  // For Operator::states.
  static StateDescription description();

  bool restored() const { return restored_; }
  void add(const IndexRange& range);
  bool empty() const { return ranges_.empty(); }
  // Forgets what `is_other` says of a range.
  template <typename Other>
  void drop(Other&& is_other) {
    std::erase_if(ranges_, is_other);
  }
  // The range with the lowest next index of those that may go on; null: none may.
  template <typename MayGoOn>
  IndexRange* lowest(MayGoOn&& may_go_on) {
    IndexRange* found = nullptr;
    for (IndexRange& range : ranges_) {
      if ((found == nullptr || range.next < found->next) && may_go_on(range)) found = &range;
    }
    return found;
  }
  // The range with the lowest next index. REQUIRES: !empty().
  IndexRange& current() { return ranges_.size() == 1 ? ranges_.front() : current_of_several(); }
  // How many of the current range come before those of another one, or `most`. REQUIRES: !empty().
  std::uint64_t run(std::uint64_t most) {
    return ranges_.size() == 1 ? ranges_.front().left(most) : run_of_several(most);
  }
  // Of all, or `most`.
  std::uint64_t left(std::uint64_t most) const {
    std::uint64_t sum = 0;
    for (const IndexRange& range : ranges_) sum += range.left(most - sum);
    return sum;
  }
  void drop_empty() {
    drop([](const IndexRange& range) { return range.empty(); });
  }
  const std::vector<IndexRange>& all() const { return ranges_; }

  void snapshot(ByteWriter& out) const;
  Status restore(ByteReader& in);

 private:
  IndexRange& current_of_several();
  std::uint64_t run_of_several(std::uint64_t most);

  std::vector<IndexRange> ranges_;
  bool restored_ = false;
};

}  // namespace hummer
