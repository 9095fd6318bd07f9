// blocks_of_runs: the entries of runs, oldest run first, in the form that snapshots have
// (read_spilled_entry reads it):
//
//   hash u64, key_bytes u32, value_bytes u32 (all ones: removed), key, value
//
// It holds on to each run until its entries were handed out. Thread: one at a time. Errors: those
// of the disk, with `name`.
#pragma once

#include <memory>
#include <string>

#include <hummer/detail/state/spilled_store.hpp>

#include "state/run_layers.hpp"

namespace hummer {

std::unique_ptr<SpilledBlocks> blocks_of_runs(RunLayers layers, std::string name);

}  // namespace hummer
