#include <utility>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "state/run_scans.hpp"

namespace hummer {
namespace {

constexpr std::size_t entries_at_once = 256;
constexpr std::size_t bytes_at_once = 16 << 10;

// Copies some entries of a scan at a time.
class ScanCursor final : public EntryCursor {
 public:
  explicit ScanCursor(std::unique_ptr<SpilledScan> scan) : scan_(std::move(scan)) {}

  Result<bool> prepare() override { return scan_->prepare(); }
  Status load() override {
    places_.clear();
    offsets_.clear();
    ByteWriter out(space_);
    while (!at_end_ && offsets_.size() < entries_at_once && out.size() < bytes_at_once) {
      if (!offsets_.empty()) {
        const Result<bool> prepared = scan_->prepare();
        if (!prepared.ok()) return prepared.status();
        if (!*prepared) break;
      }
      const Result<bool> found = scan_->next();
      if (!found.ok()) return found.status();
      at_end_ = !*found;
      if (at_end_) break;
      offsets_.push_back(out.size());
      places_.push_back({scan_->entry().hash, nullptr});
      write_run_entry(scan_->entry(), true, out);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i].at = space_.data() + offsets_[i];
    return {};
  }

 private:
  const std::unique_ptr<SpilledScan> scan_;
  std::string space_;
  std::vector<std::size_t> offsets_;  // within it
};

}  // namespace

std::unique_ptr<SpilledScan> merge_scans(std::vector<std::unique_ptr<SpilledScan>> scans,
                                         SpilledCombine combine) {
  std::vector<std::unique_ptr<EntryCursor>> cursors;
  for (auto& scan : scans) cursors.push_back(std::make_unique<ScanCursor>(std::move(scan)));
  SpilledStoreOptions options;
  options.combine = std::move(combine);
  return std::make_unique<MergingScan>(std::move(cursors), options, 0, std::string(), false);
}

}  // namespace hummer
