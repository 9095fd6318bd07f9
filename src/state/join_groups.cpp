#include <hummer/detail/state/join_groups.hpp>

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

// Made at a time: enough for their memory to arrive, and few enough to stay in the caches.
constexpr std::size_t groups_at_once = 64;
constexpr std::size_t entries_at_once = 256;
constexpr std::size_t copied_bytes_at_once = 64 << 10;
constexpr std::size_t entries_per_count = 1024;
// Groups of many keys take no more; what is above it is of one key, and counted.
constexpr std::size_t working_bytes = 192 << 10;

constexpr std::size_t read_bytes_of_all = std::size_t{1} << 20;
constexpr std::size_t most_read_bytes = std::size_t{64} << 10;
constexpr std::size_t least_read_bytes = std::size_t{4} << 10;

constexpr std::size_t line_bytes = 64;
constexpr std::size_t prefetched_bytes = 128;

void prefetch(const RecordEntry& entry) {
  const char* const at = reinterpret_cast<const char*>(&entry);
  for (std::size_t line = 0; line < prefetched_bytes; line += line_bytes) {
    __builtin_prefetch(at + line);
  }
}

}  // namespace

// One sorted run: of a log, or on disk.
struct JoinGroups::Run {
  std::uint64_t hash = 0;  // of the next entry
  const RecordLog* log = nullptr;
  const RecordLog::Place* next = nullptr;
  const RecordLog::Place* end = nullptr;
  std::unique_ptr<SpilledScan> scan;  // null: of a log
};

// Its runs, those that have entries left as a heap: the least hash first, of equal ones the earlier
// run.
class JoinGroups::Side {
 public:
  static bool has_some(const JoinSlices& slices, std::size_t side, const TimeWindow& window) {
    const auto to = slices.all().lower_bound(window.end_ms);
    return std::any_of(slices.all().lower_bound(window.start_ms), to, [side](const auto& slice) {
      return !slice.second.logs[side].empty() || slice.second.on_disk[side] != 0;
    });
  }
  // REQUIRES: released.
  void begin(JoinSlices& slices, std::size_t side, const TimeWindow& window) {
    const auto from = slices.all().lower_bound(window.start_ms);
    const auto to = slices.all().lower_bound(window.end_ms);
    const std::size_t read_bytes =
        std::clamp(read_bytes_of_all / (static_cast<std::size_t>(std::distance(from, to)) + 1),
                   least_read_bytes, most_read_bytes);
    for (auto slice = from; slice != to; ++slice) {
      if (auto scan = slices.scan(slice->first, side, read_bytes)) {
        Run& run = runs_.emplace_back();
        run.scan = std::move(scan);
      }
      RecordLog& log = slice->second.logs[side];
      if (log.empty()) continue;
      const auto& places = log.sort(&slices.scratch());
      Run& run = runs_.emplace_back();
      run.log = &log;
      run.next = places.data();
      run.end = places.data() + places.size();
      run.hash = run.next->hash;
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].scan == nullptr || step_on_disk(runs_[i])) push(i);
    }
  }
  bool done() const { return heap_.empty(); }
  const Status& failure() const { return failure_; }
  std::uint64_t hash() const { return runs_[heap_.front()].hash; }

  // Up to the first entry that has this hash or a larger one.
  void skip_to(std::uint64_t hash) {
    while (!done() && this->hash() < hash) {
      Run& run = runs_[heap_.front()];
      if (run.scan == nullptr) {
        do {
          ++run.next;
        } while (run.next != run.end && run.next->hash < hash);
        if (run.next != run.end) run.hash = run.next->hash;
        reorder_first(run.next != run.end);
      } else {
        bool some = true;
        do {
          some = step_on_disk(run);
        } while (some && run.hash < hash);
        reorder_first(some);
      }
    }
  }
  // All entries with this hash. take(entry) → false: no further.
  template <typename Take>
  void take(std::uint64_t hash, Take&& take) {
    while (!done() && this->hash() == hash) {
      Run& run = runs_[heap_.front()];
      bool some = true;
      do {
        const RecordEntry& entry =
            run.scan == nullptr ? run.log->entry(run.next->where) : copy(run);
        if (!take(entry)) return;
        some = run.scan == nullptr ? ++run.next != run.end : step_on_disk(run);
        if (some && run.scan == nullptr) run.hash = run.next->hash;
      } while (some && run.hash == hash);
      reorder_first(some);
    }
  }
  void clear_copies() { copies_.clear(); }
  std::size_t copies_bytes() const { return copies_.memory_bytes(); }
  std::size_t held_bytes() const { return copied_.bytes(); }
  void release() {
    runs_.clear();
    heap_.clear();
    failure_ = {};
    clear_copies();
    copied_.release_spare();
  }

 private:
  bool step_on_disk(Run& run) {
    const Result<bool> found = run.scan->next();
    if (!found.ok()) failure_ = found.status();
    if (!found.ok() || !*found) return false;
    run.hash = JoinSlices::hash_of(run.scan->entry());
    return true;
  }
  const RecordEntry& copy(const Run& run) {
    const std::string_view bytes = JoinSlices::bytes_of(run.scan->entry());
    char* const at = copies_.reserve(bytes.size());
    std::memcpy(at, bytes.data(), bytes.size());
    copies_.commit(run.hash, bytes.size());
    return RecordEntry::at(at);
  }

  auto later() const {
    return [this](std::size_t a, std::size_t b) {
      return runs_[a].hash != runs_[b].hash ? runs_[a].hash > runs_[b].hash : a > b;
    };
  }
  void push(std::size_t run) {
    heap_.push_back(run);
    std::push_heap(heap_.begin(), heap_.end(), later());
  }
  // The first run has moved on.
  void reorder_first(bool has_entries) {
    if (heap_.size() == 1) {
      if (!has_entries) heap_.clear();
      return;
    }
    std::pop_heap(heap_.begin(), heap_.end(), later());
    if (has_entries) {
      std::push_heap(heap_.begin(), heap_.end(), later());
    } else {
      heap_.pop_back();
    }
  }

  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;
  Status failure_;
  RecordMemory copied_;
  RecordLog copies_{copied_};
};

JoinGroups::JoinGroups() : sides_{std::make_unique<Side>(), std::make_unique<Side>()} {}
JoinGroups::~JoinGroups() = default;

void JoinGroups::open(OperatorContext& context) {
  memory_.open_part(context.memory(), "the window that goes out");
}

void JoinGroups::begin(JoinSlices& slices, const TimeWindow& window, Keys keys) {
  keys_ = keys;
  end_ = window.end_ms;
  slices_ = &slices;
  some_ahead_ = slices.some_ahead_of(end_);
  for (const auto& side : sides_) side->release();
  for (std::size_t side = 0; side < 2; ++side) {
    if (keys == Keys::of_both_sides && !Side::has_some(slices, 1 - side, window)) return;
  }
  for (std::size_t side = 0; side < 2; ++side) sides_[side]->begin(slices, side, window);
}

std::size_t JoinGroups::held_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    bytes += entries_[side].capacity() * sizeof(const RecordEntry*) + sides_[side]->held_bytes();
  }
  return bytes - std::min(bytes, working_bytes);
}

Result<bool> JoinGroups::next() {
  do {
    raw_.clear();
    groups_.clear();
    for (std::size_t side = 0; side < 2; ++side) {
      entries_[side].clear();
      sides_[side]->clear_copies();
    }
    Side& first = *sides_[0];
    Side& second = *sides_[1];
    Status room;
    while (raw_.size() < groups_at_once &&
           entries_[0].size() + entries_[1].size() < entries_at_once &&
           first.copies_bytes() + second.copies_bytes() < copied_bytes_at_once) {
      if (keys_ == Keys::of_both_sides) {
        if (first.done() || second.done()) break;
        if (first.hash() < second.hash()) {
          first.skip_to(second.hash());
          continue;
        }
        if (second.hash() < first.hash()) {
          second.skip_to(first.hash());
          continue;
        }
      } else if (first.done() && second.done()) {
        break;
      }
      const std::uint64_t hash = first.done()    ? second.hash()
                                 : second.done() ? first.hash()
                                                 : std::min(first.hash(), second.hash());
      JoinGroup& raw = raw_.emplace_back();
      for (std::size_t side = 0; side < 2; ++side) {
        std::vector<const RecordEntry*>& entries = entries_[side];
        raw.begin[side] = static_cast<std::uint32_t>(entries.size());
        sides_[side]->take(hash, [&](const RecordEntry& entry) {
          prefetch(entry);
          entries.push_back(&entry);
          if (entries.size() % entries_per_count == 0) room = memory_.set(held_bytes());
          return room.ok();
        });
        if (!room.ok()) return room;
        raw.end[side] = static_cast<std::uint32_t>(entries.size());
      }
    }
    for (const auto& side : sides_) {
      if (!side->failure().ok()) return side->failure();
    }
    if (raw_.empty()) {
      for (std::size_t side = 0; side < 2; ++side) {
        sides_[side]->release();
        if (entries_[side].capacity() > 4 * entries_at_once)
          std::vector<const RecordEntry*>().swap(entries_[side]);
      }
      HUMMER_TRY(memory_.set(held_bytes()));
      return false;
    }
    HUMMER_TRY(memory_.set(held_bytes()));
    for (const JoinGroup& raw : raw_) finish(raw);
  } while (groups_.empty());
  return true;
}

// Entries of one hash: without those that have been in this window, by key, in order of time.
void JoinGroups::finish(JoinGroup group) {
  if (some_ahead_) {
    for (std::size_t side = 0; side < 2; ++side) {
      const auto begin = entries_[side].begin() + group.begin[side];
      const auto end = entries_[side].begin() + group.end[side];
      group.end[side] = static_cast<std::uint32_t>(
          std::remove_if(begin, end,
                         [this](const RecordEntry* entry) {
                           return slices_->origins()[entry->origin] >= end_;
                         }) -
          entries_[side].begin());
    }
  }
  const RecordEntry* const one = group.size(0) != 0   ? entries_[0][group.begin[0]]
                                 : group.size(1) != 0 ? entries_[1][group.begin[1]]
                                                      : nullptr;
  if (one == nullptr) return;
  bool same_key = true;
  for (std::size_t side = 0; side < 2; ++side) {
    for (const RecordEntry* const entry : entries(side, group)) {
      same_key = same_key && entry->key() == one->key();
    }
  }
  for (std::size_t side = 0; side < 2; ++side) sort(side, group, same_key);
  if (same_key) return add(group);
  // Several keys have this hash.
  while (group.size(0) + group.size(1) > 0) {
    std::string_view least;
    bool some = false;
    for (std::size_t side = 0; side < 2; ++side) {
      if (group.size(side) == 0) continue;
      const std::string_view key = entries_[side][group.begin[side]]->key();
      if (!some || key < least) least = key;
      some = true;
    }
    JoinGroup of_key = group;
    for (std::size_t side = 0; side < 2; ++side) {
      std::uint32_t& at = group.begin[side];
      while (at < group.end[side] && entries_[side][at]->key() == least) ++at;
      of_key.end[side] = at;
    }
    add(of_key);
  }
}

void JoinGroups::add(const JoinGroup& group) {
  if (keys_ == Keys::of_both_sides && (group.size(0) == 0 || group.size(1) == 0)) return;
  groups_.push_back(group);
}

// Those of equal times stay in order.
void JoinGroups::sort(std::size_t side, const JoinGroup& group, bool same_key) {
  const auto begin = entries_[side].begin() + group.begin[side];
  const auto end = entries_[side].begin() + group.end[side];
  const auto before = [same_key](const RecordEntry* a, const RecordEntry* b) {
    if (!same_key && a->key() != b->key()) return a->key() < b->key();
    return a->time < b->time;
  };
  if (std::is_sorted(begin, end, before)) return;
  // By hand stable: std::stable_sort allocates, and draws warnings from some compilers.
  ordered_.clear();
  for (auto entry = begin; entry != end; ++entry) {
    ordered_.emplace_back(*entry, static_cast<std::uint32_t>(entry - begin));
  }
  std::sort(ordered_.begin(), ordered_.end(), [&](const auto& a, const auto& b) {
    if (before(a.first, b.first)) return true;
    return !before(b.first, a.first) && a.second < b.second;
  });
  std::transform(ordered_.begin(), ordered_.end(), begin,
                 [](const auto& entry) { return entry.first; });
}

}  // namespace hummer
