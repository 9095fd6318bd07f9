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
  std::uint64_t left() const { return empty() ? 0 : (end - next - 1) / step + 1; }
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
  IndexRange& current();
  // How many of the current range come before those of another one. REQUIRES: !empty().
  std::uint64_t run();
  std::uint64_t left() const;
  void drop_empty();
  const std::vector<IndexRange>& all() const { return ranges_; }

  void snapshot(ByteWriter& out) const;
  Status restore(ByteReader& in);

 private:
  std::vector<IndexRange> ranges_;
  bool restored_ = false;
};

}  // namespace hummer
