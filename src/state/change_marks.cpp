#include <hummer/detail/state/change_marks.hpp>

#include <cstring>
#include <utility>

namespace hummer {

bool ChangeMarks::freeze(std::size_t slots, bool may_be_delta) {
  const bool delta = may_be_delta && begun_ && !frozen_;
  by_marks_ = delta && tracked_;
  if (by_marks_) {
    changed_.swap(pending_);  // nothing is pending now
    if (changed_.size_bytes() != pending_.size_bytes()) clear(changed_, slots);
  } else {
    clear(changed_, slots);
    if (frozen_ && !whole_) clear(pending_, slots);
  }
  whole_ = !by_marks_;
  begun_ = frozen_ = true;
  tracked_ = freezes_without_marks_ == 0;
  if (!tracked_) --freezes_without_marks_;
  return delta;
}

void ChangeMarks::reset() {
  ChangeMarks fresh;
  for (const auto& [kept, bits] :
       {std::pair{&fresh.changed_, &changed_}, std::pair{&fresh.pending_, &pending_}}) {
    if (begun_ && bits->size_bytes() > 0) std::memset(bits->data(), 0, bits->size_bytes());
    kept->swap(*bits);
  }
  *this = std::move(fresh);
}

ChangeMarks ChangeMarks::grow(std::size_t slots) {
  ChangeMarks old;
  old.changed_.swap(changed_);
  old.pending_.swap(pending_);
  old.whole_ = std::exchange(whole_, false);
  for (ZeroedPages* bits : {&changed_, &pending_}) {
    if (kept() || slots >= large_slots) clear(*bits, slots);
    if (slots >= large_slots) clear(*bits, slots);  // again: now every page is there
  }
  return old;
}

bool ChangeMarks::make_wider(std::size_t slots) {
  if (!kept() && slots < large_slots) return false;
  for (ZeroedPages* bits : {&changed_, &pending_}) {
    const bool carried = bits == &changed_ ? kept() : frozen_ && !whole_;
    const ZeroedPages old = std::exchange(*bits, ZeroedPages());
    clear(*bits, slots);
    if (slots >= large_slots) clear(*bits, slots);  // again: now every page is there
    if (carried) std::memcpy(bits->data(), old.data(), old.size_bytes());
  }
  return frozen_ && std::exchange(whole_, false);
}

void ChangeMarks::clear(ZeroedPages& bits, std::size_t slots) {
  const std::size_t bytes = (slots + 63) / 64 * 8;
  if (bits.size_bytes() != bytes) {
    bits = bytes == 0 ? ZeroedPages() : ZeroedPages(bytes);
  } else if (bytes > 0) {
    std::memset(bits.data(), 0, bytes);
  }
}

}  // namespace hummer
