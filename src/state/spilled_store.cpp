#include <hummer/detail/state/spilled_store.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <hummer/detail/connector_context.hpp>

#include "platform/free_memory.hpp"
#include "state/leaving_runs.hpp"
#include "state/run_blocks.hpp"
#include "state/run_layers.hpp"
#include "state/run_look_up.hpp"
#include "state/run_merge.hpp"
#include "state/run_scans.hpp"
#include "state/spilled_run.hpp"

namespace hummer {
namespace {

// Runs of one level before they become one of the next: few where keys are looked up in each, many
// where nothing but a scan reads them, as those of deltas by key; of slices and timers single ones
// are looked for.
constexpr std::size_t runs_per_level_of_values = 4;
constexpr std::size_t runs_per_level_of_deltas = 8;
constexpr std::size_t runs_per_level_of_deltas_by_key = 32;
// So many times that before merging has no pauses any more, before the operator does a part of it
// between two batches, and before it waits for it.
constexpr std::size_t hurries_from = 2;
constexpr std::size_t helps_from = 3;
constexpr std::size_t waits_from = 6;
// What leaves memory is not waited for so soon: only runs of a few entries come so fast that the
// steps behind each batch are not enough.
constexpr std::size_t waits_in_any_case_from = 24;
// So many steps of what leaves are done there at most as long as there is time left.
constexpr int steps_between_batches = 2;
// One in so many look-ups or more is of a key that is nowhere: then the oldest run has a filter.
constexpr std::uint64_t least_part_of_new = 16;

// So much larger than the runs that are merged an older one may be that is merged with them: so
// each entry is written twice more at most for what it replaces.
constexpr std::uint64_t most_times_older = 2;
// More than one byte in so many is over: what is left is merged, twice as much as what goes at
// most.
constexpr std::uint64_t least_part_over = 3;
constexpr std::uint64_t least_over_bytes = 64 << 10;  // else a file is not worth it
constexpr std::int64_t between_looks = 1000;          // at what is over, in the unit of now()

// So much has been written between two times that free memory is given back.
constexpr std::uint64_t give_back_after_bytes = 4 << 20;
// The same of filters and indexes of runs that were merged.
constexpr std::uint64_t give_back_after_freed_bytes = 512 << 10;

std::uint64_t disk_bytes_of(const std::vector<Run>& runs) {
  std::uint64_t bytes = 0;
  for (const Run& run : runs) bytes += run->disk_bytes();
  return bytes;
}

class RunStore final : public SpilledStore {
 public:
  // `account` may be null.
  RunStore(Platform& platform, MemoryAccount* account, std::string directory, std::string name,
           SpilledStoreOptions options)
      : platform_(platform),
        account_(account != nullptr ? account->shared_from_this() : nullptr),
        directory_(std::move(directory)),
        name_(std::move(name)),
        options_(std::move(options)) {}

  ~RunStore() override { clear(); }

  bool empty() const override { return runs_.empty() && leaving_.empty(); }
  std::size_t memory_bytes() const override {
    std::size_t bytes = of_all_runs(&SpilledRun::memory_bytes) + leaving_bytes();
    for (const auto& merge : merges_) bytes += merge->memory_bytes();
    if (writer_) bytes += writer_->memory_bytes();
    return bytes;
  }
  std::uint64_t disk_bytes() const override { return of_all_runs(&SpilledRun::disk_bytes); }

  Status begin_run(std::uint64_t entries_max) override {
    HUMMER_ASSERT(leaving_.empty());
    return begin(0, entries_max);
  }
  Status add(const SpilledEntry& entry) override { return named(writer_->add(entry)); }
  Status finish_run() override {
    Result<Run> run = finish();
    if (!run.ok()) return run.status();
    if ((*run)->entries() > 0 && frozen_once_)
      since_freeze_.push_back({.run = *run, .leaving = nullptr, .want = nullptr});
    HUMMER_TRY(take_in(std::move(*run)));
    HUMMER_TRY(wait_for_merges(waits_from));
    tell_account();
    return {};
  }
  Status advance() override {
    for (std::size_t late = helps_from; late_merge(late) != nullptr; late += helps_from) {
      (void)late_merge(late)->try_step_here();
    }
    HUMMER_TRY(take_in_written());
    const bool some = std::any_of(merges_.begin(), merges_.end(),
                                  [](const auto& merge) { return merge->finished(); });
    if (!some && (runs_.empty() || now() < next_look_)) return {};
    Status status = take_in_merged();
    tell_account();
    return status;
  }

  // ---- what leaves memory ----

  void leave(std::shared_ptr<const LeavingEntries> entries) override {
    leaving_.add(LeavingRun::begin(platform_, directory_, options_, std::exchange(file_, {}),
                                   std::move(entries)),
                 runs_.empty());
    if (!frozen_once_) return;
    since_freeze_.push_back({.run = nullptr, .leaving = leaving_.all().back(), .want = nullptr});
  }
  bool leaving() const override { return !leaving_.empty(); }
  std::size_t leaving_bytes() const override { return leaving_.memory_bytes(); }
  Status keep_pace(std::size_t added) override {
    for (int i = 0; i < steps_between_batches && leaving_.keep_pace(added); ++i) {
      HUMMER_TRY(take_in_written());
    }
    return {};
  }
  Status finish_leaving() override {
    leaving_.finish_here();
    return take_in_written();
  }
  bool visit_leaving(std::uint64_t hash, std::string_view key,
                     const std::function<bool(std::string_view value)>& visit) const override {
    return leaving_.visit(hash, key, visit);
  }

  void expect(std::span<const std::uint64_t> hashes) const override {
    for (const Run& run : runs_) {
      for (const std::uint64_t hash : hashes) run->expect(hash);
    }
  }
  Result<bool> find(std::uint64_t hash, std::string_view key, std::string& value) override {
    HUMMER_ASSERT(!options_.combine);
    const LeavingEntries::Held held = find_in_memory(hash, key, value);
    if (held != LeavingEntries::Held::no) return held == LeavingEntries::Held::yes;
    ++looked_up_;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      SpilledEntry entry;
      const Result<bool> found = (*run)->find(hash, key, space_, entry);
      if (!found.ok()) return named(found.status());
      if (!*found) continue;
      if (entry.removed) return false;
      value = entry.value;
      return true;
    }
    ++looked_up_new_;
    return false;
  }

  Status find_all(const MissingKeys& keys, std::size_t first, std::size_t end,
                  const Found& found) override {
    HUMMER_ASSERT(!options_.combine);
    std::vector<std::uint32_t> left(end - first);
    std::iota(left.begin(), left.end(), static_cast<std::uint32_t>(first));
    if (!leaving_.empty()) {
      std::erase_if(left, [&](std::uint32_t key) {
        const LeavingEntries::Held held = find_in_memory(keys.hash(key), keys.bytes(key), space_);
        if (held == LeavingEntries::Held::yes) found(key, space_);
        return held != LeavingEntries::Held::no;
      });
    }
    for (auto run = runs_.rbegin(); run != runs_.rend() && !left.empty(); ++run) {
      HUMMER_TRY(named(look_up_in_run(**run, keys, left, space_,
                                      [&](std::uint32_t key, const SpilledEntry& entry) {
                                        if (!entry.removed) found(key, entry.value);
                                      })));
    }
    looked_up_ += end - first;
    looked_up_new_ += left.size();
    return {};
  }
  std::unique_ptr<SpilledScan> scan() override { return scan_of(layers(), false); }
  std::unique_ptr<SpilledScan> scan_hash(std::uint64_t hash,
                                         std::size_t read_bytes_at_once) override {
    return scan_of_layers(
        RunLayers(layers()),
        [options = options_, as_of = now(), name = name_, hash,
         read_bytes_at_once](const std::vector<Run>& runs) {
          std::vector<std::unique_ptr<EntryCursor>> cursors;
          for (const Run& run : runs) {
            if (run->last_hash() < hash || run->first_hash() > hash) continue;
            cursors.push_back(std::make_unique<RunCursor>(
                run, run->block_before(hash), read_bytes_at_once, hash, std::string_view()));
          }
          return scan_of_hash(
              std::make_unique<MergingScan>(std::move(cursors), options, as_of, name, false), hash);
        },
        name_);
  }
  Frozen freeze(bool may_be_delta) override {
    Frozen frozen;
    frozen.blocks = blocks_of_runs(RunLayers(freeze_layers(may_be_delta, frozen.delta)), name_);
    return frozen;
  }
  FrozenEntries freeze_entries(bool may_be_delta) override {
    FrozenEntries frozen;
    std::vector<RunLayer> layers = freeze_layers(may_be_delta, frozen.delta);
    frozen.scan = scan_of(std::move(layers), frozen.delta);
    return frozen;
  }
  void clear() override {
    forget_freeze();
    cancel_merges();
    leaving_.let_go();
    runs_.clear();
    file_ = {};
    tell_account();
  }
  void drop_before(std::uint64_t hash) override {
    forget_freeze();
    first_hash_ = hash;
    std::erase_if(runs_, [&](const Run& run) { return run->last_hash() < hash; });
    tell_account();
  }
  void absorb(SpilledStore& other) override {
    forget_freeze();
    cancel_merges();
    auto& store = static_cast<RunStore&>(other);
    runs_.insert(runs_.end(), store.runs_.begin(), store.runs_.end());
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const Run& a, const Run& b) { return a->level() > b->level(); });
    leaving_.take_all_of(store.leaving_);
    store.clear();
    tell_account();
  }
  Result<std::unique_ptr<SpilledScan>> scan_from(std::uint64_t hash,
                                                 std::string_view key) override {
    std::vector<std::unique_ptr<EntryCursor>> cursors;
    for (const Run& run : runs_) {
      if (run->last_hash() < hash) continue;
      const Result<std::size_t> first = run->block_before(hash, key);
      if (!first.ok()) return named(first.status());
      cursors.push_back(std::make_unique<RunCursor>(run, *first, read_bytes_of_held, hash, key));
    }
    return std::unique_ptr<SpilledScan>(
        std::make_unique<MergingScan>(std::move(cursors), options_, now(), name_, false));
  }

 private:
  Status named(Status status) const { return status.ok() ? status : status.with_context(name_); }

  std::int64_t now() const { return options_.now ? options_.now() : 0; }
  LeavingEntries::Held find_in_memory(std::uint64_t hash, std::string_view key,
                                      std::string& value) const {
    return leaving_.find(hash, key, value);
  }
  // All that there is.
  std::vector<RunLayer> layers() const {
    std::vector<RunLayer> all;
    for (const Run& run : runs_) all.push_back({.run = run, .leaving = nullptr, .want = nullptr});
    for (const auto& each : leaving_.all()) {
      all.push_back({.run = nullptr, .leaving = each, .want = nullptr});
    }
    return all;
  }
  std::unique_ptr<SpilledScan> scan_of(std::vector<RunLayer> layers, bool keep_removed) const {
    return scan_of_layers(
        RunLayers(std::move(layers)),
        [options = options_, as_of = now(), name = name_,
         keep_removed](const std::vector<Run>& runs) -> std::unique_ptr<SpilledScan> {
          std::vector<std::unique_ptr<EntryCursor>> cursors;
          const std::size_t read_bytes = read_bytes_of_scan_over(runs.size());
          for (const Run& run : runs) {
            cursors.push_back(std::make_unique<RunCursor>(run, 0, read_bytes));
          }
          return std::make_unique<MergingScan>(std::move(cursors), options, as_of, name,
                                               keep_removed);
        },
        name_);
  }

  // Together of those that are read by this store and by what was made of it before.
  template <typename Bytes>
  Bytes of_all_runs(Bytes (SpilledRun::*bytes_of)() const) const {
    Bytes bytes = 0;
    for (const Run& run : runs_) bytes += (*run.*bytes_of)();
    for (const auto& each : merged_away_) {
      if (const Run run = each.lock()) bytes += (*run.*bytes_of)();
    }
    return bytes;
  }

  void tell_account() {
    const std::uint64_t bytes = disk_bytes();
    if (account_ != nullptr) account_->change_disk(told_bytes_, bytes);
    told_bytes_ = bytes;
  }

  Status begin(int level, std::uint64_t entries_max) {
    if (file_.writable == nullptr) {
      Result<RunFile> file = RunFile::open(platform_, directory_);
      if (!file.ok()) return named(file.status());
      file_ = std::move(*file);
    }
    writer_.emplace(
        SpilledRunWriter::create(file_, options_, level, options_.combine ? 0 : entries_max));
    return {};
  }
  Result<Run> finish() {
    Result<Run> run = writer_->finish(false);
    const bool full = writer_->file_bytes() >= RunFile::full_bytes;
    writer_.reset();
    if (run.ok() && full) {
      const RunFile file = std::exchange(file_, {});
      HUMMER_TRY(named(file.writable->close()));
    }
    if (!run.ok()) return named(run.status());
    return run;
  }

  // The newest run from now on.
  Status take_in(Run run) {
    const std::uint64_t written_bytes = run->disk_bytes();
    if (run->entries() > 0 && run->last_hash() >= first_hash_) runs_.push_back(std::move(run));
    std::uint64_t since_freeze_bytes = 0;
    for (const RunLayer& layer : since_freeze_) {
      since_freeze_bytes += layer.run == nullptr ? 0 : layer.run->disk_bytes();
    }
    if (since_freeze_bytes > disk_bytes_of(runs_)) forget_freeze();
    // What earlier entries lay in: what comes next takes its memory elsewhere.
    freed_by_writing_.add(written_bytes);
    HUMMER_TRY(take_in_merged());
    if (waiting_runs() >= hurries_from * runs_per_level()) {
      for (const auto& merge : merges_) merge->hurry();
    }
    return {};
  }
  Status wait_for_merges(std::size_t times) {
    while (RunMerge* const late = late_merge(times)) {
      late->finish_here();
      HUMMER_TRY(take_in_merged());
    }
    return {};
  }
  // What has left memory and is on disk, in the order in which it left.
  Status take_in_written() {
    while (const std::shared_ptr<LeavingRun> leaving = leaving_.take_finished()) {
      Result<Run> run = leaving->run();
      RunFile file = leaving->take();
      if (!run.ok()) return named(run.status());
      if (file_.writable == nullptr) file_ = std::move(file);
      for (RunLayer& layer : since_freeze_) {
        if (layer.leaving == leaving) layer = {.run = *run, .leaving = nullptr, .want = nullptr};
      }
      HUMMER_TRY(take_in(std::move(*run)));
      HUMMER_TRY(wait_for_merges(waits_in_any_case_from));
      tell_account();
    }
    return {};
  }

  std::vector<RunLayer> freeze_layers(bool may_be_delta, bool& delta) {
    delta = may_be_delta && frozen_once_;
    std::vector<RunLayer> frozen = delta ? since_freeze_ : layers();
    since_freeze_.clear();
    frozen_once_ = true;
    tell_account();
    return frozen;
  }

  // ---- merging ----

  std::size_t runs_per_level() const {
    if (!options_.combine) return runs_per_level_of_values;
    return options_.keys_are_hashed ? runs_per_level_of_deltas_by_key : runs_per_level_of_deltas;
  }
  bool is_merged(const Run& run) const {
    return std::any_of(merges_.begin(), merges_.end(),
                       [&](const auto& merge) { return merge->merges(*run); });
  }

  // What is finished takes the place of the runs that it was made of; then others begin.
  Status take_in_merged() {
    std::uint64_t freed_bytes = 0;
    for (;;) {
      const auto next = std::find_if(merges_.begin(), merges_.end(), [&](const auto& merge) {
        return merge->finished() && has_its_turn(*merge);
      });
      if (next == merges_.end()) break;
      const std::shared_ptr<RunMerge> merge = std::move(*next);
      merges_.erase(next);
      Result<RunMerge::Merged> merged = merge->take();
      if (!merged.ok()) return named(merged.status());
      for (const Run& run : merged->old) freed_bytes += run->memory_bytes();
      replace(merged->old, std::move(merged->run));
    }
    drop_over();
    forget_scanned();
    freed_by_merging_.add(freed_bytes);
    begin_merges();
    begin_merge_of_over();
    next_look_ = std::min(now(), RunEnds::never - between_looks) + between_looks;
    return {};
  }

  // Levels fall from the oldest run to the newest, also where a merge of newer runs ends before
  // that of older ones of the same level: it waits for them.
  bool has_its_turn(const RunMerge& merge) const {
    const auto first = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const Run& run) { return merge.merges(*run); });
    return first == runs_.begin() || first == runs_.end() ||
           (*(first - 1))->level() >= merge.level();
  }

  // The oldest, as long as all that is in it is over or removed: then nothing is hidden by it. (A
  // newer one may hide what an older one has of a key, which must not come back.) A snapshot that
  // builds on another one still tells of it: since_freeze_ has it.
  void drop_over() {
    const auto first_left =
        std::find_if(runs_.begin(), runs_.end(),
                     [as_of = now()](const Run& run) { return !run->is_over(as_of); });
    merged_away_.insert(merged_away_.end(), runs_.begin(), first_left);
    runs_.erase(runs_.begin(), first_left);
  }

  // Some of `old` may have been dropped meanwhile; where all were, nothing of it counts any more.
  void replace(const std::vector<Run>& old, Run merged) {
    const auto is_old = [&](const Run& run) {
      return std::find(old.begin(), old.end(), run) != old.end();
    };
    const auto first = std::find_if(runs_.begin(), runs_.end(), is_old);
    if (first == runs_.end()) return;
    const auto place = first - runs_.begin();
    std::erase_if(runs_, is_old);
    merged_away_.insert(merged_away_.end(), old.begin(), old.end());
    if (merged->entries() > 0) runs_.insert(runs_.begin() + place, std::move(merged));
  }

  // The newest levels first: they fill soonest. One that has enough runs again is merged while
  // those before still are.
  void begin_merges() {
    for (auto end = runs_.end(); end != runs_.begin();) {
      const int level = (*(end - 1))->level();
      auto first = end;
      while (first != runs_.begin() && (*(first - 1))->level() == level &&
             !is_merged(*(first - 1))) {
        --first;
      }
      if (static_cast<std::size_t>(end - first) >= runs_per_level()) {
        begin_merge(with_older(first, end), end, level + 1);
      } else if (first == end) {
        --first;  // it is being merged
      }
      end = first;
    }
  }
  using Place = std::vector<Run>::iterator;
  // Also older runs that are not much larger than these: what is replaced goes from the disk, and
  // its part of filters and indexes from memory. Only of state by key: others come in the order of
  // time, and replace nothing.
  Place with_older(Place first, Place end) const {
    const bool replaces = !options_.combine && (options_.end_of || options_.keys_are_hashed);
    std::uint64_t bytes = disk_bytes_of({first, end});
    while (replaces && first != runs_.begin() && !is_merged(*(first - 1)) &&
           (*(first - 1))->disk_bytes() <= most_times_older * bytes) {
      --first;
      bytes += (*first)->disk_bytes();
    }
    return first;
  }
  void begin_merge(Place first, Place end, int least_level) {
    const bool has_older = first != runs_.begin();
    merges_.push_back(
        RunMerge::begin(platform_, directory_, name_, options_,
                        {.runs = std::vector<Run>(first, end),
                         .older = std::vector<Run>(runs_.begin(), first),
                         .level = std::max(least_level, (*first)->level()),
                         .with_filter = !options_.combine && (has_older || some_keys_are_new()),
                         .first_hash = first_hash_,
                         .as_of = now()}));
  }

  // What goes of a run when it is merged, at least, but for marks of what older runs may have.
  std::uint64_t over_bytes(const Run& run) const {
    const bool oldest = run == runs_.front();
    return run->over_bytes(now()) + (oldest ? run->removed_bytes() : 0);
  }
  static bool much_is_over(std::uint64_t over, std::uint64_t all) {
    return over > all / least_part_over;
  }
  // Of runs that are not merged already: where much is over, the one that has the largest part of
  // it, and those beside it as far as it is much of them together.
  void begin_merge_of_over() {
    if (!options_.end_of) return;
    const auto part_over = [&](const Run& run) {
      return static_cast<double>(over_bytes(run)) / static_cast<double>(run->disk_bytes());
    };
    std::uint64_t all = 0;
    std::uint64_t all_over = 0;
    auto first = runs_.end();
    for (auto run = runs_.begin(); run != runs_.end(); ++run) {
      if (is_merged(*run)) continue;
      all += (*run)->disk_bytes();
      all_over += over_bytes(*run);
      if (first == runs_.end() || part_over(*run) > part_over(*first)) first = run;
    }
    if (!much_is_over(all_over, all)) return;
    auto end = first + 1;
    std::uint64_t bytes = (*first)->disk_bytes();
    std::uint64_t over = over_bytes(*first);
    const auto takes = [&](const Run& run) {
      if (is_merged(run) || !much_is_over(over + over_bytes(run), bytes + run->disk_bytes())) {
        return false;
      }
      bytes += run->disk_bytes();
      over += over_bytes(run);
      return true;
    };
    while (first != runs_.begin() && takes(*(first - 1))) --first;
    while (end != runs_.end() && takes(*end)) ++end;
    if (over >= least_over_bytes) begin_merge(first, end, 0);
  }

  // The oldest run's filter helps with keys that are nowhere only, and is the largest.
  bool some_keys_are_new() {
    const bool some = looked_up_new_ * least_part_of_new >= looked_up_;
    looked_up_ = looked_up_new_ = 0;
    return some;
  }

  // Of the newest level.
  std::size_t waiting_runs() const {
    return static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), [&](const Run& run) {
      return run->level() == runs_.back()->level();
    }));
  }
  // The oldest merge of the newest level, where that has so many times the runs that are merged at
  // once, so that looking something up takes long; null: there is none.
  RunMerge* late_merge(std::size_t times) const {
    if (runs_.empty() || waiting_runs() < times * runs_per_level()) return nullptr;
    for (const Run& run : runs_) {
      if (run->level() != runs_.back()->level()) continue;
      for (const auto& merge : merges_) {
        if (merge->merges(*run)) return merge.get();
      }
    }
    return nullptr;
  }

  void cancel_merges() {
    for (const auto& merge : merges_) merge->cancel();
    merges_.clear();
  }

  // The next one gives everything.
  void forget_freeze() {
    since_freeze_.clear();
    frozen_once_ = false;
  }
  // Merged runs that no scan reads any more.
  void forget_scanned() {
    std::erase_if(merged_away_, [](const auto& run) { return run.expired(); });
  }

  Platform& platform_;
  const std::shared_ptr<MemoryAccount> account_;
  std::uint64_t told_bytes_ = 0;
  FreedMemory freed_by_writing_{give_back_after_bytes};
  FreedMemory freed_by_merging_{give_back_after_freed_bytes};
  std::uint64_t looked_up_ = 0;      // keys, since the oldest run was merged
  std::uint64_t looked_up_new_ = 0;  // of those: not there
  const std::string directory_;
  const std::string name_;
  const SpilledStoreOptions options_;
  std::vector<Run> runs_;               // oldest first
  LeavingRuns leaving_;                 // newer than those: on their way to disk
  std::vector<RunLayer> since_freeze_;  // came since then, oldest first; merging makes none
  bool frozen_once_ = false;
  // Became part of others; what reads them on, or will for a snapshot, keeps them in memory.
  std::vector<std::weak_ptr<const SpilledRun>> merged_away_;
  std::uint64_t first_hash_ = 0;  // nobody asks for what comes before it
  std::vector<std::shared_ptr<RunMerge>> merges_;
  std::int64_t next_look_ = 0;  // at what is over
  std::optional<SpilledRunWriter> writer_;
  RunFile file_;  // of the next run, if it is open
  std::string space_;
};

}  // namespace

std::unique_ptr<SpilledStore> make_spilled_store(OperatorContext& context,
                                                 SpilledStoreOptions options) {
  return std::make_unique<RunStore>(
      connector_context(context).platform(), context.memory(), context.spill_directory(),
      "the state of operator '" + context.name() + "' on disk", std::move(options));
}

}  // namespace hummer
