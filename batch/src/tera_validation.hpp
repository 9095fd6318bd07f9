// validate_tera: whether a sorted output is one: keys in order within and across its files.
//
//   auto validation = validate_tera(platform, {"sorted"}, threads, control);
//   validation->out_of_order == 0;
//
// With the number of records, and the sum of the CRC-32 of all of them (as TeraValidate of Hadoop
// has it), which is that of the input when none was lost, doubled or changed.
//
// Thread: the main thread. Errors: not_found, corrupt_file, those of the disk; cancelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "job_runner.hpp"

namespace hummer::batch {

struct TeraValidation {
  std::uint64_t files = 0;
  std::uint64_t records = 0;
  std::uint64_t checksum = 0;
  std::uint64_t out_of_order = 0;  // records that are in front of the one before them
  std::string first_out_of_order;  // where that is; empty: nowhere
};

Result<TeraValidation> validate_tera(Platform& platform, const std::vector<std::string>& paths,
                                     std::uint32_t threads, const JobControl& control);

}  // namespace hummer::batch
