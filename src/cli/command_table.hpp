// The commands of a cluster: those that both `hummer` and a program with a job inside have.
#pragma once

#include <span>

#include "cli/command.hpp"

namespace hummer {

std::span<const Command> cluster_commands();

}  // namespace hummer
