#include "state/run_merge.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

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
  BackgroundRun::begin(platform, merge);
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

Result<RunMerge::Merged> RunMerge::take() {
  Result<Run> run = result();
  if (!run.ok()) return run.status();
  const std::lock_guard lock(mutex());
  return Merged{.old = std::exchange(plan_.runs, {}), .run = std::move(*run)};
}

void RunMerge::let_go(bool cancelled) {
  scan_.reset();
  writer_.reset();
  plan_.older.clear();
  if (cancelled) plan_.runs.clear();
}

Status RunMerge::write_some(std::optional<Run>& written) {
  if (!scan_) return open();
  for (std::size_t bytes = 0; bytes < bytes_per_background_step;) {
    const Result<bool> found = scan_->next();
    if (!found.ok()) return found.status();
    if (!*found) {
      Result<Run> run = writer_->finish(true);
      if (run.ok()) written = std::move(*run);
      return run.status();
    }
    const SpilledEntry& entry = scan_->entry();
    bytes += entry.key.size() + entry.value.size() + sizeof(SpilledEntry::hash);
    if (entry.hash < plan_.first_hash || (entry.removed && !hides_something(entry))) continue;
    HUMMER_TRY(writer_->add(entry));
  }
  set_memory_bytes(writer_->memory_bytes());
  return {};
}

Status RunMerge::open() {
  const Result<std::uint64_t> entries = entries_together();
  if (!entries.ok()) return entries.status();
  Result<RunFile> file = RunFile::open(platform_, directory_);
  if (!file.ok()) return file.status();
  writer_.emplace(SpilledRunWriter::create(std::move(*file), options_, plan_.level,
                                           plan_.with_filter ? *entries : 0));
  set_memory_bytes(writer_->memory_bytes());
  std::vector<std::unique_ptr<EntryCursor>> cursors;
  const std::size_t read_bytes = read_bytes_of_scan_over(plan_.runs.size());
  for (const Run& run : plan_.runs) {
    cursors.push_back(
        std::make_unique<RunCursor>(run, run->block_before(plan_.first_hash), read_bytes));
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
    do {
      HUMMER_TRY(cursor.load());
      for (const EntryCursor::Place& place : cursor.places()) {
        if (place.hash >= begin && place.hash < end) hashes.push_back(place.hash);
      }
    } while (!cursor.at_end() && cursor.places().back().hash < end);
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
