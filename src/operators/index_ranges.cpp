#include <hummer/detail/operators/index_ranges.hpp>

#include <algorithm>

namespace hummer {

StateDescription IndexRanges::description() { return {"position", "index_ranges"}; }

void IndexRanges::add(const IndexRange& range) {
  if (!range.empty()) ranges_.push_back(range);
}

IndexRange& IndexRanges::current_of_several() {
  return *std::min_element(ranges_.begin(), ranges_.end(),
                           [](const auto& a, const auto& b) { return a.next < b.next; });
}

std::uint64_t IndexRanges::run_of_several(std::uint64_t most) {
  const IndexRange& first = current_of_several();
  std::uint64_t until = first.end;
  for (const IndexRange& range : ranges_) {
    if (&range != &first) until = std::min(until, std::max(range.next, first.next + 1));
  }
  return IndexRange{first.next, until, first.step}.left(most);
}

void IndexRanges::snapshot(ByteWriter& out) const {
  out.put_value(static_cast<std::uint32_t>(ranges_.size()));
  for (const IndexRange& range : ranges_) {
    out.put_value(range.next);
    out.put_value(range.end);
    out.put_value(range.step);
  }
}

Status IndexRanges::restore(ByteReader& in) {
  restored_ = true;
  std::uint32_t count = 0;
  bool valid = in.get_value(count);
  for (std::uint32_t i = 0; valid && i < count; ++i) {
    IndexRange range;
    valid = in.get_value(range.next) && in.get_value(range.end) && in.get_value(range.step) &&
            range.step != 0;
    if (valid) add(range);
  }
  if (valid) return {};
  return {ErrorCode::corrupt_record, "the state of a source by index makes no sense"};
}

}  // namespace hummer
