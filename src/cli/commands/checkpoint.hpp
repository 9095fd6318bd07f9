// `checkpoint ls|inspect|verify PATH [--json]`: what lies on disk, without a cluster or the job.
//
//   ls       DIRECTORY   a line per checkpoint, by its metadata alone
//   inspect  PATH        job, operators with their states, files of one checkpoint or savepoint
//   verify   PATH        reads every byte of one checkpoint, or of all in a directory
//
// Exit code: 0 all is whole, 1 something is corrupt, missing or cannot be read (said by name), 2
// wrong usage. A checkpoint without metadata is incomplete, which a crash may leave: ls and verify
// say so and don't count it as a failure, unless it is the very one that was asked for.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_checkpoint(const Invocation& invocation);

}  // namespace hummer
