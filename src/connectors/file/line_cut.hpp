// LineCut: where a block of whole lines ends. Pure; the one place that knows
// which lines belong to a split.
//
// A line belongs to the split in which its first byte lies. So a split [begin,
// end) reads on behind `end` until the line that began before it is over, and
// (skip_target) leaves out the rest of the line that began before `begin`.
//
// With a quote, line ends between two of these end no line. A split is then the whole file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hummer {

inline constexpr std::size_t no_cut = static_cast<std::size_t>(-1);

// data[0, size) begins with a line. `searched`: data[0, searched) is known to have no '\n' (a
// line longer than the block; then the cut comes right behind it, else as late as possible).
// `until_end`: bytes from data to the end of the split, > 0.
// Returns the size of the block; no_cut: no line ends here. The split is done when the cut is
// >= until_end.
inline std::size_t line_cut(const char* data, std::size_t size, std::size_t searched,
                            std::uint64_t until_end) {
  const auto first_newline = [&](std::size_t from) {
    const void* at = from < size ? std::memchr(data + from, '\n', size - from) : nullptr;
    return at ? static_cast<std::size_t>(static_cast<const char*>(at) - data) + 1 : no_cut;
  };
  if (searched > 0) return first_newline(searched);
  if (until_end <= size) {
    // The last line of the split ends at the first '\n' that is its last byte or behind it.
    const std::size_t last = first_newline(static_cast<std::size_t>(until_end) - 1);
    if (last != no_cut) return last;
  }
  const std::size_t inside = static_cast<std::size_t>(std::min<std::uint64_t>(size, until_end));
  const void* at = inside > 0 ? ::memrchr(data, '\n', inside) : nullptr;
  return at ? static_cast<std::size_t>(static_cast<const char*>(at) - data) + 1 : no_cut;
}

// Of one block: call it with the `searched` of the call before as `size` grows.
class LineCut {
 public:
  explicit LineCut(char quote) : quote_(quote) {}

  std::size_t operator()(const char* data, std::size_t size, std::size_t searched,
                         std::uint64_t until_end) {
    return quote_ == 0 ? line_cut(data, size, searched, until_end)
                       : cut_outside(data, searched, size);
  }

 private:
  // The last line end in data[searched, size) with an even number of quotes before it.
  std::size_t cut_outside(const char* data, std::size_t searched, std::size_t size) {
    const auto quotes = [&](std::size_t from, std::size_t to) {
      return std::count(data + from, data + to, quote_) % 2 != 0;
    };
    bool open = open_ != quotes(searched, size);
    const bool open_at_end = open;
    std::size_t end = size;
    while (end > searched) {
      const void* found = ::memrchr(data + searched, '\n', end - searched);
      if (found == nullptr) break;
      const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - data);
      open = open != quotes(at, end);
      if (!open) return at + 1;
      end = at;
    }
    open_ = open_at_end;
    return no_cut;
  }

  char quote_;
  bool open_ = false;  // an odd number of quotes in what is searched
};

}  // namespace hummer
