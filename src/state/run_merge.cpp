#include "state/run_merge.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace hummer {
namespace {

// So much is merged in a step: about a millisecond.
constexpr std::size_t bytes_per_step = 256 << 10;

// Of the largest of runs that are merged, how much says how many keys they share.
constexpr std::size_t least_sampled_blocks = 256;
constexpr std::size_t most_sampled_blocks = 256;
constexpr std::size_t sampled_part = 32;
constexpr double sampling_margin = 1.1;

std::vector<const SpilledRun*> addresses_of(const std::vector<Run>& runs) {
  std::vector<const SpilledRun*> addresses;
  for (const Run& run : runs) addresses.push_back(run.get());
  return addresses;
}

}  // namespace

std::shared_ptr<RunMerge> RunMerge::begin(Platform& platform, std::string directory,
                                          std::string name, const SpilledStoreOptions& options,
                                          Plan plan) {
  std::shared_ptr<RunMerge> merge(
      new RunMerge(platform, std::move(directory), std::move(name), options, std::move(plan)));
  platform.background().spawn(run(merge));
  return merge;
}

RunMerge::RunMerge(Platform& platform, std::string directory, std::string name,
                   const SpilledStoreOptions& options, Plan plan)
    : platform_(platform),
      directory_(std::move(directory)),
      name_(std::move(name)),
      options_(options),
      merged_(addresses_of(plan.runs)),
      level_(plan.level),
      plan_(std::move(plan)) {}

bool RunMerge::merges(const SpilledRun& run) const {
  return std::find(merged_.begin(), merged_.end(), &run) != merged_.end();
}

Task<void> RunMerge::run(std::shared_ptr<RunMerge> self) {
  Executor& executor = co_await current_executor();
  for (;;) {
    const Nanoseconds begun = executor.now();
    if (!self->work()) co_return;
    const bool hurries = self->hurries_.load(std::memory_order_relaxed);
    co_await sleep_for(hurries ? 0 : executor.now() - begun);
  }
}

bool RunMerge::work() {
  const std::lock_guard lock(mutex_);
  return !taken_over_ && step();
}

void RunMerge::step_here() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) (void)step();
}

void RunMerge::finish_here() {
  const std::lock_guard lock(mutex_);
  taken_over_ = true;
  while (step()) {
  }
}

void RunMerge::cancel() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  scan_.reset();
  writer_.reset();
  result_.reset();
  plan_.runs.clear();
  plan_.older.clear();
}

Result<RunMerge::Merged> RunMerge::take() {
  const std::lock_guard lock(mutex_);
  HUMMER_ASSERT(result_.has_value());
  Result<Run> run = *std::exchange(result_, std::nullopt);
  if (!run.ok()) return run.status();
  return Merged{.old = std::exchange(plan_.runs, {}), .run = std::move(*run)};
}

bool RunMerge::step() {
  if (over_) return false;
  Status status;
  bool finished = false;
  try {
    status = merge_some(finished);
  } catch (const std::exception& thrown) {  // by what puts values together
    status = Status(ErrorCode::user_function_failed, thrown.what());
  } catch (...) {
    status = Status(ErrorCode::user_function_failed, "something unknown was thrown");
  }
  if (status.ok() && !finished) return true;
  over_ = true;
  if (status.ok()) {
    result_ = writer_->finish(true);
  } else {
    result_ = Result<Run>(std::move(status));
  }
  scan_.reset();
  writer_.reset();
  plan_.older.clear();
  finished_.store(true, std::memory_order_release);
  return false;
}

Status RunMerge::merge_some(bool& finished) {
  if (!scan_) return open();
  for (std::size_t bytes = 0; bytes < bytes_per_step;) {
    const Result<bool> found = scan_->next();
    if (!found.ok()) return found.status();
    if (!*found) {
      finished = true;
      return {};
    }
    const SpilledEntry& entry = scan_->entry();
    bytes += entry.key.size() + entry.value.size() + sizeof(SpilledEntry::hash);
    if (entry.hash < plan_.first_hash || (entry.removed && !hides_something(entry))) continue;
    HUMMER_TRY(writer_->add(entry));
  }
  memory_bytes_.store(writer_->memory_bytes(), std::memory_order_relaxed);
  return {};
}

Status RunMerge::open() {
  const Result<std::uint64_t> entries = entries_together();
  if (!entries.ok()) return entries.status();
  Result<RunFile> file = RunFile::open(platform_, directory_);
  if (!file.ok()) return file.status();
  writer_.emplace(SpilledRunWriter::create(std::move(*file), options_, plan_.level,
                                           plan_.with_filter ? *entries : 0));
  memory_bytes_.store(writer_->memory_bytes(), std::memory_order_relaxed);
  std::vector<RunCursor> cursors;
  for (const Run& run : plan_.runs) {
    cursors.emplace_back(run, run->block_before(plan_.first_hash), read_bytes_of_scan);
  }
  scan_.emplace(std::move(cursors), options_, plan_.as_of, name_, !plan_.older.empty());
  return {};
}

// Those that are older are merged meanwhile or go, but never have other keys.
bool RunMerge::hides_something(const SpilledEntry& entry) const {
  return std::any_of(plan_.older.begin(), plan_.older.end(),
                     [&](const Run& run) { return run->may_have(entry.hash); });
}

// For the filter, which is in memory beside the old ones: about how many entries runs have when
// equal keys are one, by a stretch in the middle of the largest.
Result<std::uint64_t> RunMerge::entries_together() const {
  std::uint64_t all = 0;
  for (const Run& run : plan_.runs) all += run->entries();
  const auto largest = std::max_element(
      plan_.runs.begin(), plan_.runs.end(),
      [](const Run& a, const Run& b) { return a->block_count() < b->block_count(); });
  const std::size_t blocks = (*largest)->block_count();
  if (!plan_.with_filter || blocks < least_sampled_blocks) return all;
  const std::size_t middle = blocks / 2;
  const std::uint64_t begin = (*largest)->hash_of_block(middle);
  const std::uint64_t end =
      (*largest)->hash_of_block(middle + std::min(blocks / sampled_part, most_sampled_blocks));
  std::vector<std::uint64_t> hashes;
  for (const Run& run : plan_.runs) {
    RunCursor cursor(run, run->block_before(begin), read_bytes_of_scan);
    for (;;) {
      const Result<bool> got = cursor.next();
      if (!got.ok()) return got.status();
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

}  // namespace hummer
