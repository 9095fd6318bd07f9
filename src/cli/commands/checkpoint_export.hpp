// `hummer checkpoint export`: the keyed state of a checkpoint as JSON lines, one per key.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace hummer {

// Empty ones filter nothing.
struct CheckpointExport {
  std::string of_operator;  // uid or name
  std::string state;        // only keys that have it, and of them only that
  std::string key;          // as JSON, or a text as it is
};

// The exit code. `path`: a checkpoint or savepoint.
int export_checkpoint(Platform& platform, const std::string& path, const CheckpointExport& wanted);

}  // namespace hummer
