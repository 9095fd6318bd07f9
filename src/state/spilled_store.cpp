#include <algorithm>
#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/state/spilled_store.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "platform/free_memory.hpp"
#include "state/spilled_run.hpp"

namespace hummer {
namespace {

using Run = std::shared_ptr<const SpilledRun>;

// Runs of one level before they become one of the next: few where keys are looked up in each.
constexpr std::size_t runs_per_level_of_values = 4;
constexpr std::size_t runs_per_level_of_deltas = 8;

// Of the largest of runs that are merged, how much says how many keys they share.
constexpr std::size_t least_sampled_blocks = 256;
constexpr std::size_t sampled_part = 32;
constexpr double sampling_margin = 1.1;

// So much has been written between two times that free memory is given back.
constexpr std::uint64_t give_back_after_bytes = 4 << 20;

// How much a scan reads of each run at a time; the same of one that is held for long.
constexpr std::size_t read_bytes = 64 << 10;
constexpr std::size_t read_bytes_of_held = 4 << 10;

// Reads one run from front to back, or from some block on.
class RunCursor {
 public:
  explicit RunCursor(Run run) : run_(std::move(run)) {}
  RunCursor(Run run, std::size_t first_block, std::size_t read_bytes_at_once)
      : run_(std::move(run)), block_(first_block), read_bytes_(read_bytes_at_once) {}

  // False: its end.
  Result<bool> next() {
    while (part_ == parts_.size()) {
      if (block_ == run_->block_count()) return false;
      HUMMER_TRY(run_->read_blocks(block_, read_bytes_, space_, parts_));
      block_ += parts_.size();
      part_ = 0;
      at_ = 0;
    }
    const auto [begin, end] = parts_[part_];
    at_ = std::max(at_, begin);
    HUMMER_ASSERT(read_spilled_entry(std::string_view(space_).substr(0, end), at_, entry_));
    if (at_ == end) ++part_;
    return true;
  }
  const SpilledEntry& entry() const { return entry_; }

 private:
  Run run_;
  std::size_t block_ = 0;
  std::size_t read_bytes_ = read_bytes;
  std::string space_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;  // of the blocks in `space_`
  std::size_t part_ = 0;
  std::size_t at_ = 0;
  SpilledEntry entry_;
};

bool before(const SpilledEntry& a, const SpilledEntry& b) {
  return a.hash != b.hash ? a.hash < b.hash : a.key < b.key;
}
bool same_key(const SpilledEntry& a, const SpilledEntry& b) {
  return a.hash == b.hash && a.key == b.key;
}

class MergingScan final : public SpilledScan {
 public:
  // Oldest first. `keep_removed`: there are older runs than these.
  MergingScan(const std::vector<Run>& runs, const SpilledStoreOptions& options, std::string name,
              bool keep_removed)
      : MergingScan(cursors_of(runs), options, std::move(name), keep_removed) {}
  MergingScan(std::vector<RunCursor> cursors, const SpilledStoreOptions& options, std::string name,
              bool keep_removed)
      : options_(options), name_(std::move(name)), keep_removed_(keep_removed) {
    for (RunCursor& cursor : cursors) cursors_.push_back({std::move(cursor), true, false});
  }

  Result<bool> next() override {
    for (;;) {
      Result<bool> found = step();
      if (!found.ok()) return found.status().with_context(name_);
      if (!*found) return false;
      // Where values are combined nothing hides below one that is dead.
      if (entry_.removed && (!keep_removed_ || options_.combine)) continue;
      return true;
    }
  }
  const SpilledEntry& entry() const override { return entry_; }

 private:
  struct Input {
    RunCursor cursor;
    bool due;   // its entry is used up
    bool open;  // it has one
  };

  static std::vector<RunCursor> cursors_of(const std::vector<Run>& runs) {
    return std::vector<RunCursor>(runs.begin(), runs.end());
  }
  Result<bool> step() {
    const Input* least = nullptr;
    for (Input& input : cursors_) {
      if (input.due) {
        const Result<bool> got = input.cursor.next();
        if (!got.ok()) return got.status();
        input.open = *got;
        input.due = false;
      }
      if (!input.open) continue;
      // Of equal keys the newest, which comes last.
      if (least == nullptr || !before(least->cursor.entry(), input.cursor.entry())) least = &input;
    }
    if (least == nullptr) return false;
    entry_ = least->cursor.entry();
    bool first = true;
    for (Input& input : cursors_) {
      if (!input.open || !same_key(input.cursor.entry(), entry_)) continue;
      input.due = true;
      if (!options_.combine) continue;
      if (first) {
        together_ = input.cursor.entry().value;
        first = false;
      } else {
        both_.clear();
        if (!options_.combine(together_, input.cursor.entry().value, both_)) {
          return Status(ErrorCode::corrupt_record, "two values of a key cannot be put together");
        }
        together_.swap(both_);
      }
      entry_.value = together_;
    }
    if (!entry_.removed && options_.is_dead && options_.is_dead(entry_.value)) {
      entry_.removed = true;
      entry_.value = {};
    }
    return true;
  }

  const SpilledStoreOptions options_;
  const std::string name_;
  const bool keep_removed_;
  std::vector<Input> cursors_;
  SpilledEntry entry_;
  std::string together_;
  std::string both_;
};

class BlocksOfRuns final : public SpilledBlocks {
 public:
  BlocksOfRuns(std::vector<Run> runs, std::string name)
      : runs_(std::move(runs)), name_(std::move(name)) {}

  Result<std::string_view> next() override {
    while (part_ == parts_.size()) {
      if (run_ < runs_.size() && block_ == runs_[run_]->block_count()) {
        runs_[run_++].reset();  // what nobody else has is off the disk
        block_ = 0;
      }
      if (run_ == runs_.size()) return std::string_view();
      Status status = runs_[run_]->read_blocks(block_, read_bytes, space_, parts_);
      if (!status.ok()) return status.with_context(name_);
      block_ += parts_.size();
      part_ = 0;
    }
    const auto [begin, end] = parts_[part_++];
    return std::string_view(space_).substr(begin, end - begin);
  }

 private:
  std::vector<Run> runs_;
  const std::string name_;
  std::size_t run_ = 0;
  std::size_t block_ = 0;  // those before it are in `space_` or were
  std::string space_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;  // of the blocks in `space_`
  std::size_t part_ = 0;
};

std::uint64_t disk_bytes_of(const std::vector<Run>& runs) {
  std::uint64_t bytes = 0;
  for (const Run& run : runs) bytes += run->disk_bytes();
  return bytes;
}

// A scan without what comes before some place.
class ScanFrom final : public SpilledScan {
 public:
  ScanFrom(std::unique_ptr<SpilledScan> scan, std::uint64_t hash, std::string_view key)
      : scan_(std::move(scan)), key_(key) {
    first_.hash = hash;
    first_.key = key_;
  }
  Result<bool> next() override {
    for (;;) {
      Result<bool> found = scan_->next();
      if (!found.ok() || !*found || !before(scan_->entry(), first_)) return found;
    }
  }
  const SpilledEntry& entry() const override { return scan_->entry(); }

 private:
  std::unique_ptr<SpilledScan> scan_;
  const std::string key_;
  SpilledEntry first_;
};

// The part of a scan that has one hash.
class ScanOfHash final : public SpilledScan {
 public:
  ScanOfHash(std::unique_ptr<SpilledScan> scan, std::uint64_t hash)
      : scan_(std::move(scan)), hash_(hash) {}
  Result<bool> next() override {
    for (;;) {
      Result<bool> found = scan_->next();
      if (!found.ok() || !*found) return found;
      if (entry().hash >= hash_) return entry().hash == hash_;
    }
  }
  const SpilledEntry& entry() const override { return scan_->entry(); }

 private:
  std::unique_ptr<SpilledScan> scan_;
  const std::uint64_t hash_;
};

class MergedScans final : public SpilledScan {
 public:
  MergedScans(std::vector<std::unique_ptr<SpilledScan>> scans, SpilledCombine combine)
      : scans_(std::move(scans)), combine_(std::move(combine)) {
    for (std::size_t i = 0; i < scans_.size(); ++i) used_.push_back(i);
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
  const SpilledEntry& first() const { return scans_[waiting_.front()]->entry(); }
  // The heap's order: the least key comes first, of equal ones that of the first scan.
  auto later() const {
    return [this](std::size_t a, std::size_t b) {
      const SpilledEntry& of_a = scans_[a]->entry();
      const SpilledEntry& of_b = scans_[b]->entry();
      return before(of_b, of_a) || (b < a && same_key(of_a, of_b));
    };
  }
  void push(std::size_t scan) {
    waiting_.push_back(scan);
    std::push_heap(waiting_.begin(), waiting_.end(), later());
  }
  std::size_t pop() {
    std::pop_heap(waiting_.begin(), waiting_.end(), later());
    used_.push_back(waiting_.back());
    waiting_.pop_back();
    return used_.back();
  }

  const std::vector<std::unique_ptr<SpilledScan>> scans_;
  const SpilledCombine combine_;
  std::vector<std::size_t> waiting_;  // a heap of those that have an entry
  std::vector<std::size_t> used_;     // those whose entry went out
  SpilledEntry entry_;
  std::string together_;
  std::string both_;
};

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

  bool empty() const override { return runs_.empty(); }
  std::size_t memory_bytes() const override { return of_all_runs(&SpilledRun::memory_bytes); }
  std::uint64_t disk_bytes() const override { return of_all_runs(&SpilledRun::disk_bytes); }

  Status begin_run(std::uint64_t entries_max) override { return begin(0, entries_max); }
  Status add(const SpilledEntry& entry) override { return named(writer_->add(entry)); }
  Status finish_run() override {
    Result<Run> run = finish();
    if (!run.ok()) return run.status();
    written_bytes_ += (*run)->disk_bytes();
    if ((*run)->entries() > 0) {
      if (frozen_once_) since_freeze_.push_back(*run);
      runs_.push_back(std::move(*run));
    }
    // What earlier entries lay in, then what merged runs had: what comes next takes its memory
    // elsewhere. Not for little, as it costs system calls.
    const bool much = written_bytes_ >= give_back_after_bytes;
    if (much) {
      written_bytes_ = 0;
      give_back_free_memory();
    }
    const std::size_t runs = runs_.size();
    Status merged = merge_levels();
    if (disk_bytes_of(since_freeze_) > disk_bytes_of(runs_)) forget_freeze();
    if (much && runs_.size() < runs) give_back_free_memory();
    tell_account();
    return merged;
  }

  Result<bool> find(std::uint64_t hash, std::string_view key, std::string& value) override {
    HUMMER_ASSERT(!options_.combine);
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      SpilledEntry entry;
      const Result<bool> found = (*run)->find(hash, key, space_, entry);
      if (!found.ok()) return named(found.status());
      if (!*found) continue;
      if (entry.removed) return false;
      value = entry.value;
      return true;
    }
    return false;
  }

  std::unique_ptr<SpilledScan> scan() override {
    return std::make_unique<MergingScan>(runs_, options_, name_, false);
  }
  std::unique_ptr<SpilledScan> scan_hash(std::uint64_t hash,
                                         std::size_t read_bytes_at_once) override {
    std::vector<RunCursor> cursors;
    for (const Run& run : runs_) {
      if (run->last_hash() < hash || run->first_hash() > hash) continue;
      cursors.emplace_back(run, run->block_before(hash), read_bytes_at_once);
    }
    return std::make_unique<ScanOfHash>(
        std::make_unique<MergingScan>(std::move(cursors), options_, name_, false), hash);
  }
  Frozen freeze(bool may_be_delta) override {
    Frozen frozen;
    frozen.delta = may_be_delta && frozen_once_;
    frozen.blocks = std::make_unique<BlocksOfRuns>(frozen.delta ? since_freeze_ : runs_, name_);
    since_freeze_.clear();
    frozen_once_ = true;
    tell_account();
    return frozen;
  }
  void clear() override {
    forget_freeze();
    runs_.clear();
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
    auto& store = static_cast<RunStore&>(other);
    runs_.insert(runs_.end(), store.runs_.begin(), store.runs_.end());
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const Run& a, const Run& b) { return a->level() > b->level(); });
    store.clear();
    tell_account();
  }
  Result<std::unique_ptr<SpilledScan>> scan_from(std::uint64_t hash,
                                                 std::string_view key) override {
    std::vector<RunCursor> cursors;
    for (const Run& run : runs_) {
      if (run->last_hash() < hash) continue;
      const Result<std::size_t> first = run->block_before(hash, key);
      if (!first.ok()) return named(first.status());
      cursors.emplace_back(run, *first, read_bytes_of_held);
    }
    return std::unique_ptr<SpilledScan>(std::make_unique<ScanFrom>(
        std::make_unique<MergingScan>(std::move(cursors), options_, name_, false), hash, key));
  }

 private:
  Status named(Status status) const { return status.ok() ? status : status.with_context(name_); }

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
    Result<SpilledRunWriter> writer =
        SpilledRunWriter::create(platform_, directory_, level, entries_max, !options_.combine);
    if (!writer.ok()) return named(writer.status());
    writer_.emplace(std::move(*writer));
    return {};
  }
  Result<Run> finish() {
    Result<Run> run = writer_->finish();
    writer_.reset();
    if (!run.ok()) return named(run.status());
    return run;
  }

  // The newest runs are of the lowest level: while there are enough of it, they become one.
  Status merge_levels() {
    const std::size_t most = options_.combine ? runs_per_level_of_deltas : runs_per_level_of_values;
    while (!runs_.empty()) {
      const int level = runs_.back()->level();
      auto first = runs_.end();
      while (first != runs_.begin() && (*(first - 1))->level() == level) --first;
      if (static_cast<std::size_t>(runs_.end() - first) < most) return {};
      const std::vector<Run> merged(first, runs_.end());
      const Result<std::uint64_t> entries = entries_together(merged);
      if (!entries.ok()) return entries.status();
      std::vector<RunCursor> cursors;
      for (const Run& run : merged) {
        cursors.emplace_back(run, run->block_before(first_hash_), read_bytes);
      }
      MergingScan scan(std::move(cursors), options_, name_, first != runs_.begin());
      HUMMER_TRY(begin(level + 1, *entries));
      for (;;) {
        const Result<bool> got = scan.next();
        if (!got.ok()) return got.status();
        if (!*got) break;
        if (scan.entry().hash >= first_hash_) HUMMER_TRY(add(scan.entry()));
      }
      Result<Run> run = finish();
      if (!run.ok()) return run.status();
      forget_scanned();
      merged_away_.insert(merged_away_.end(), first, runs_.end());
      runs_.erase(first, runs_.end());
      if ((*run)->entries() > 0) runs_.push_back(std::move(*run));
    }
    return {};
  }

  // For the filter, which is in memory beside the old ones: about how many entries runs have when
  // equal keys are one, by a stretch in the middle of the largest.
  Result<std::uint64_t> entries_together(const std::vector<Run>& runs) const {
    std::uint64_t all = 0;
    for (const Run& run : runs) all += run->entries();
    const auto largest = std::max_element(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
      return a->block_count() < b->block_count();
    });
    const std::size_t blocks = (*largest)->block_count();
    if (options_.combine || blocks < least_sampled_blocks) return all;
    const std::size_t middle = blocks / 2;
    const std::uint64_t begin = (*largest)->hash_of_block(middle);
    const std::uint64_t end = (*largest)->hash_of_block(middle + blocks / sampled_part);
    std::vector<std::uint64_t> hashes;
    for (const Run& run : runs) {
      RunCursor cursor(run, run->block_before(begin), read_bytes);
      for (;;) {
        const Result<bool> got = cursor.next();
        if (!got.ok()) return named(got.status());
        if (!*got || cursor.entry().hash >= end) break;
        if (cursor.entry().hash >= begin) hashes.push_back(cursor.entry().hash);
      }
    }
    if (hashes.empty()) return all;
    const auto sampled = static_cast<double>(hashes.size());
    std::sort(hashes.begin(), hashes.end());
    const auto different =
        static_cast<double>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
    const double estimate = static_cast<double>(all) * different / sampled * sampling_margin;
    return std::min(all, static_cast<std::uint64_t>(estimate) + 1);
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
  std::uint64_t written_bytes_ = 0;  // since free memory was given back
  const std::string directory_;
  const std::string name_;
  const SpilledStoreOptions options_;
  std::vector<Run> runs_;          // oldest first
  std::vector<Run> since_freeze_;  // written since then, oldest first; merging makes none
  bool frozen_once_ = false;
  // Became part of others; what reads them on, or will for a snapshot, keeps them in memory.
  std::vector<std::weak_ptr<const SpilledRun>> merged_away_;
  std::uint64_t first_hash_ = 0;  // nobody asks for what comes before it
  std::optional<SpilledRunWriter> writer_;
  std::string space_;
};

}  // namespace

std::unique_ptr<SpilledScan> merge_scans(std::vector<std::unique_ptr<SpilledScan>> scans,
                                         SpilledCombine combine) {
  return std::make_unique<MergedScans>(std::move(scans), std::move(combine));
}

std::unique_ptr<SpilledStore> make_spilled_store(OperatorContext& context,
                                                 SpilledStoreOptions options) {
  return std::make_unique<RunStore>(
      connector_context(context).platform(), context.memory(), context.spill_directory(),
      "the state of operator '" + context.name() + "' on disk", std::move(options));
}

}  // namespace hummer
