// sample_keys: keys from all over an input, for cut points (hummer/batch/partitioner.hpp).
//
// From the first records of some of the splits, evenly apart; of an input in which keys of one kind
// stand together it is as good as the splits are many. Errors: those of reading.
//
// Thread: the caller's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hummer/batch/job.hpp>
#include <hummer/status.hpp>

#include "platform/platform.hpp"

namespace hummer::batch {

// Of the job's inputs, about `most` of them.
Result<std::vector<std::string>> sample_keys(Platform& platform, const Job& job, std::size_t most);

}  // namespace hummer::batch
