// RunLayers: runs of a spilled store, oldest first, of which some are still to come: entries that
// are on their way to disk (leaving_run.hpp). What scans and snapshots of such a store are made of.
//
// Lifecycle: prepare() until it says true, or not at all; then take(). Thread: the operator's.
// Errors: those of the disk, of what was to be written.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "state/leaving_run.hpp"
#include "state/run_scans.hpp"

namespace hummer {

// One of the first two.
struct RunLayer {
  Run run;
  std::shared_ptr<LeavingRun> leaving;
  std::shared_ptr<const void> want;  // LeavingRun::want(), of who will read it
};

class RunLayers {
 public:
  explicit RunLayers(std::vector<RunLayer> layers);

  // Whether all runs are there, after a step of the first one that is not.
  bool prepare();
  // All runs. Waits for those that are not there.
  Result<std::vector<Run>> take();

 private:
  std::vector<RunLayer> layers_;
};

// What `make` makes of the runs, as soon as they are all there.
using MakeScan = std::function<std::unique_ptr<SpilledScan>(std::vector<Run>)>;
std::unique_ptr<SpilledScan> scan_of_layers(RunLayers layers, MakeScan make, std::string name);

// The part of a scan that has one hash, with which it begins.
std::unique_ptr<SpilledScan> scan_of_hash(std::unique_ptr<SpilledScan> scan, std::uint64_t hash);

}  // namespace hummer
