#include "state/leaving_runs.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

// What has left is on disk by the time that one in so many as many entries have come; the first
// time.
constexpr double written_within = 9.0 / 8;
constexpr double first_written_within = 8;
// So much of it may be late at first before the operator helps: the background has its turn first.
constexpr double may_be_late = 1.0 / 8;

}  // namespace

std::size_t LeavingRuns::memory_bytes() const {
  std::size_t bytes = 0;
  for (const auto& run : runs_) bytes += run->all_memory_bytes();
  return bytes;
}

void LeavingRuns::add(std::shared_ptr<LeavingRun> run, bool first) {
  if (runs_.empty()) first_ = first;
  runs_.push_back(std::move(run));
}

void LeavingRuns::take_all_of(LeavingRuns& other) {
  runs_.insert(runs_.end(), other.runs_.begin(), other.runs_.end());
  other.runs_.clear();
}

std::shared_ptr<LeavingRun> LeavingRuns::take_finished() {
  if (runs_.empty() || !runs_.front()->finished()) return nullptr;
  std::shared_ptr<LeavingRun> run = std::move(runs_.front());
  runs_.erase(runs_.begin());
  return run;
}

void LeavingRuns::finish_here() {
  for (const auto& run : runs_) run->finish_here();
}

void LeavingRuns::let_go() {
  for (const auto& run : runs_) {
    if (run->is_wanted()) {
      run->finish_here();
      (void)run->take();
    } else {
      run->cancel();
    }
  }
  runs_.clear();
}

bool LeavingRuns::keep_pace(std::size_t added) {
  if (runs_.empty()) return false;
  std::uint64_t all = 0;
  std::uint64_t written = 0;
  for (const auto& run : runs_) {
    all += run->size();
    written += run->written();
  }
  const double within = first_ ? first_written_within : written_within;
  const double due = std::min(1.0, static_cast<double>(added) * within / static_cast<double>(all));
  const double late = due - static_cast<double>(written) / static_cast<double>(all);
  if (late <= 0) return false;
  runs_.front()->hurry();
  if (due == 1) {
    runs_.front()->finish_here();
    return true;
  }
  if (late < may_be_late * (1 - due)) return false;
  // Where one is under way elsewhere, to wait for it is as good: all of it at last would take long.
  runs_.front()->step_here();
  return true;
}

LeavingEntries::Held LeavingRuns::find(std::uint64_t hash, std::string_view key,
                                       std::string& value) const {
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    const LeavingEntries::Held held = (*run)->entries().find(hash, key, value);
    if (held != LeavingEntries::Held::no) return held;
  }
  return LeavingEntries::Held::no;
}

bool LeavingRuns::visit(std::uint64_t hash, std::string_view key,
                        const std::function<bool(std::string_view value)>& visit) const {
  std::string value;
  for (const auto& run : runs_) {
    const bool here = run->entries().find(hash, key, value) == LeavingEntries::Held::yes;
    if (here && !visit(value)) return false;
  }
  return true;
}

}  // namespace hummer
