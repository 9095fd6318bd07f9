#include "state/run_layers.hpp"

#include <utility>

namespace hummer {
namespace {

class ScanOfLayers final : public SpilledScan {
 public:
  ScanOfLayers(RunLayers layers, MakeScan make, std::string name)
      : layers_(std::move(layers)), make_(std::move(make)), name_(std::move(name)) {}

  Result<bool> prepare() override {
    if (scan_ != nullptr) return true;
    if (!layers_.prepare()) return false;
    HUMMER_TRY(open());
    return true;
  }
  Result<bool> next() override {
    if (scan_ == nullptr) HUMMER_TRY(open());
    return scan_->next();
  }
  const SpilledEntry& entry() const override { return scan_->entry(); }

 private:
  Status open() {
    Result<std::vector<Run>> runs = layers_.take();
    if (!runs.ok()) return runs.status().with_context(name_);
    scan_ = make_(std::move(*runs));
    return {};
  }

  RunLayers layers_;
  const MakeScan make_;
  const std::string name_;
  std::unique_ptr<SpilledScan> scan_;  // null: not all runs are there
};

// The part of a scan that has one hash, with which it begins.
class ScanOfHash final : public SpilledScan {
 public:
  ScanOfHash(std::unique_ptr<SpilledScan> scan, std::uint64_t hash)
      : scan_(std::move(scan)), hash_(hash) {}
  Result<bool> next() override {
    Result<bool> found = scan_->next();
    if (!found.ok() || !*found) return found;
    return entry().hash == hash_;
  }
  const SpilledEntry& entry() const override { return scan_->entry(); }

 private:
  std::unique_ptr<SpilledScan> scan_;
  const std::uint64_t hash_;
};

}  // namespace

RunLayers::RunLayers(std::vector<RunLayer> layers) : layers_(std::move(layers)) {
  for (RunLayer& layer : layers_) {
    if (layer.leaving != nullptr) layer.want = layer.leaving->want();
  }
}

bool RunLayers::prepare() {
  for (const RunLayer& layer : layers_) {
    if (layer.leaving == nullptr || layer.leaving->finished()) continue;
    layer.leaving->hurry();
    layer.leaving->step_here();
    return false;
  }
  return true;
}

Result<std::vector<Run>> RunLayers::take() {
  std::vector<Run> runs;
  for (const RunLayer& layer : layers_) {
    if (layer.leaving == nullptr) {
      runs.push_back(layer.run);
      continue;
    }
    layer.leaving->finish_here();
    Result<Run> run = layer.leaving->run();
    if (!run.ok()) return run.status();
    if ((*run)->entries() > 0) runs.push_back(std::move(*run));
  }
  layers_.clear();
  return runs;
}

std::unique_ptr<SpilledScan> scan_of_layers(RunLayers layers, MakeScan make, std::string name) {
  return std::make_unique<ScanOfLayers>(std::move(layers), std::move(make), std::move(name));
}

std::unique_ptr<SpilledScan> scan_of_hash(std::unique_ptr<SpilledScan> scan, std::uint64_t hash) {
  return std::make_unique<ScanOfHash>(std::move(scan), hash);
}

}  // namespace hummer
