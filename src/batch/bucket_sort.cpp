#include "batch/bucket_sort.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "batch/radix_sort.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t compared_most =
    32;  // entries with one prefix whose keys are compared at once
constexpr std::size_t insertion_block = 8;  // that insertion sorts, before blocks are merged
constexpr std::size_t records_ahead = 12;   // fetched before they are asked for
// So often the next bytes become the prefix; keys that still have it in common are compared then,
// so that nobody can choose keys that take forever.
constexpr unsigned most_levels = 16;

// Stably, by a comparison.
template <typename Less>
void merge_sort(IndexEntry* entries, IndexEntry* scratch, std::size_t count, Less less) {
  for (std::size_t begin = 0; begin < count; begin += insertion_block) {
    const std::size_t end = std::min(begin + insertion_block, count);
    for (std::size_t i = begin + 1; i < end; ++i) {
      const IndexEntry entry = entries[i];
      std::size_t to = i;
      for (; to > begin && less(entry, entries[to - 1]); --to) entries[to] = entries[to - 1];
      entries[to] = entry;
    }
  }
  IndexEntry* from = entries;
  IndexEntry* into = scratch;
  for (std::size_t block = insertion_block; block < count; block *= 2) {
    for (std::size_t begin = 0; begin < count; begin += 2 * block) {
      const std::size_t middle = std::min(begin + block, count);
      const std::size_t end = std::min(begin + 2 * block, count);
      std::merge(from + begin, from + middle, from + middle, from + end, into + begin, less);
    }
    std::swap(from, into);
  }
  if (from != entries) std::memcpy(entries, from, count * sizeof(IndexEntry));
}

// How far two texts are the same, if not further than `most`.
std::size_t common_bytes(std::string_view a, std::string_view b, std::size_t most) {
  std::size_t at = 0;
  for (; at + 8 <= most; at += 8) {
    std::uint64_t word_of_a, word_of_b;
    std::memcpy(&word_of_a, a.data() + at, 8);
    std::memcpy(&word_of_b, b.data() + at, 8);
    if (word_of_a != word_of_b) {
      return at + static_cast<std::size_t>(std::countr_zero(word_of_a ^ word_of_b)) / 8;
    }
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

// Entries that have one prefix.
struct Run {
  std::size_t begin;
  std::size_t end;
  std::size_t depth;  // so many bytes of their keys are the same for certain
  unsigned level;
};

template <typename Form>
class IndexSort {
 public:
  IndexSort(Form form, const char* arena, std::span<IndexEntry> index, IndexEntry* scratch)
      : form_(form), arena_(arena), index_(index), scratch_(scratch) {}

  void sort() {
    radix_sort(index_.data(), scratch_, index_.size());
    if constexpr (Form::decided_by == 0 || Form::decided_by > sizeof(IndexEntry::prefix)) {
      find_runs(Run{0, index_.size(), 0, 0}, [](std::uint32_t) { return false; });
      while (!runs_.empty()) {
        const Run run = runs_.back();
        runs_.pop_back();
        sort_run(run);
      }
    }
  }

 private:
  std::string_view key(const IndexEntry& entry) const {
    return RecordArena::key(arena_, entry.place);
  }

  // Sorts short runs within [within.begin, within.end), and notes long ones.
  template <typename Decided>
  void find_runs(const Run& within, Decided decided) {
    const IndexEntry* const entries = index_.data();
    for (std::size_t begin = within.begin; begin < within.end;) {
      if (begin + records_ahead + 1 < within.end &&
          entries[begin + records_ahead].prefix == entries[begin + records_ahead + 1].prefix) {
        RecordArena::prefetch(arena_, entries[begin + records_ahead].place);
        RecordArena::prefetch(arena_, entries[begin + records_ahead + 1].place);
      }
      std::size_t end = begin + 1;
      while (end < within.end && entries[end].prefix == entries[begin].prefix) ++end;
      if (end - begin > 1 && !decided(entries[begin].prefix)) {
        if (end - begin <= compared_most) {
          compare_run(begin, end);
        } else {
          runs_.push_back({begin, end, within.depth, within.level});
        }
      }
      begin = end;
    }
  }

  void compare_run(std::size_t begin, std::size_t end) {
    merge_sort(index_.data() + begin, scratch_ + begin, end - begin,
               [this](const IndexEntry& a, const IndexEntry& b) {
                 return form_.compare(key(a), key(b)) < 0;
               });
  }

  void sort_run(const Run& run) {
    if constexpr (Form::has_content) {
      if (run.level < most_levels) {
        sort_run_by_content(run);
        return;
      }
    } else if constexpr (Form::decided_by != 0) {  // the second half of the prefix decides
      for_each_ahead(run, [this](IndexEntry& entry) {
        entry.prefix = static_cast<std::uint32_t>(form_.long_prefix(key(entry)));
      });
      radix_sort(index_.data() + run.begin, scratch_ + run.begin, run.end - run.begin);
      return;
    }
    compare_run(run.begin, run.end);
  }

  // With records fetched ahead.
  template <typename Function>
  void for_each_ahead(const Run& run, Function&& function) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
      if (i + records_ahead < run.end) {
        RecordArena::prefetch(arena_, index_[i + records_ahead].place);
      }
      function(index_[i]);
    }
  }

  // The next three bytes, and how many there are (4: more), so that a key that ends goes in front
  // of one that goes on with zeros, and equal prefixes of ended keys are equal keys.
  static constexpr std::size_t bytes_per_level = 3;
  static std::uint32_t next_prefix(std::string_view content, std::size_t depth) {
    const std::string_view rest = content.substr(depth);
    const auto bytes = static_cast<std::uint32_t>(first_bytes(rest) >> 32) & ~std::uint32_t{0xFF};
    return bytes | static_cast<std::uint32_t>(std::min(rest.size(), bytes_per_level + 1));
  }

  void sort_run_by_content(const Run& run) {
    const std::string_view first = form_.content(key(index_[run.begin])).substr(run.depth);
    std::size_t common = first.size();
    bool equal = true;
    for_each_ahead(run, [&](const IndexEntry& entry) {
      const std::string_view content = form_.content(key(entry)).substr(run.depth);
      common = common_bytes(first, content, std::min(common, content.size()));
      equal = equal && content.size() == first.size() && common == first.size();
    });
    if (equal) return;
    const std::size_t depth = run.depth + common;
    for_each_ahead(run, [&](IndexEntry& entry) {
      entry.prefix = next_prefix(form_.content(key(entry)), depth);
    });
    radix_sort(index_.data() + run.begin, scratch_ + run.begin, run.end - run.begin);
    find_runs(Run{run.begin, run.end, depth + bytes_per_level, run.level + 1},
              [](std::uint32_t prefix) { return (prefix & 0xFF) <= bytes_per_level; });
  }

  const Form form_;
  const char* const arena_;
  const std::span<IndexEntry> index_;
  IndexEntry* const scratch_;
  std::vector<Run> runs_;
};

}  // namespace

void sort_index(const KeyOrder& order, const char* arena, std::span<IndexEntry> index,
                std::span<IndexEntry> scratch) {
  HUMMER_ASSERT(scratch.size() >= index.size());
  order.visit([&](auto form) { IndexSort(form, arena, index, scratch.data()).sort(); });
}

IndexEntry* copy_index(const RecordArena& arena, const Bucket& bucket, IndexEntry* to) {
  arena.for_each_entry(bucket, [&to](const IndexEntry& entry) { *to++ = entry; });
  return to;
}

std::span<IndexEntry> sort_bucket(const KeyOrder& order, const RecordArena& arena,
                                  const Bucket& bucket, std::span<IndexEntry> room) {
  HUMMER_ASSERT(room.size() >= std::size_t{2} * bucket.records);
  const std::span<IndexEntry> index = room.first(bucket.records);
  HUMMER_ASSERT(copy_index(arena, bucket, index.data()) == index.data() + index.size());
  sort_index(order, arena.data(), index, room.subspan(bucket.records, bucket.records));
  return index;
}

}  // namespace hummer::batch
