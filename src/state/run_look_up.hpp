// look_up_in_run: the entries of many keys in one run, in one pass over it.
//
// Keys come in the run's order, so blocks that are near each other are read at once: to copy what
// lies between two of them costs less than another call of the system. Where keys are far apart it
// costs what SpilledRun::find does for each.
//
// Thread: any, one call per `space`. Cost: about 0.07 microseconds per KiB of what is read, and
// 0.1 per key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <hummer/detail/state/missing_keys.hpp>

#include "state/spilled_run.hpp"

namespace hummer {

// `left`: the numbers of the keys that are looked up, in order; those that are found leave it.
// `found` gets a key's number and its entry, which may say that the key is removed; the entry is
// valid during the call.
Status look_up_in_run(
    const SpilledRun& run, const MissingKeys& keys, std::vector<std::uint32_t>& left,
    std::string& space,
    const std::function<void(std::uint32_t key, const SpilledEntry& entry)>& found);

}  // namespace hummer
