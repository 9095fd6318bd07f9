// `checkpoint ls|inspect|verify|export PATH [--json]`: what lies on disk, without a cluster or the
// job.
//
//   ls       DIRECTORY   a line per checkpoint, by its metadata; damaged ones are marked
//   inspect  PATH        job, operators with their states, files of one checkpoint or savepoint
//   verify   PATH        reads every byte of one checkpoint, or of all in a directory
//
// Exit code: 0 all is whole, 1 something is corrupt, missing or cannot be read (said by name), 2
// wrong usage. Directories without metadata are no checkpoints: which of them hold files that
// others build on, and which are incomplete, is said apart (standard error; "bases" and
// "incomplete" in JSON) and is no failure, unless one is the very path that was asked for.
#pragma once

#include "cli/command.hpp"

namespace hummer {

int run_checkpoint(const Invocation& invocation);

}  // namespace hummer
