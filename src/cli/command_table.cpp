#include "cli/command_table.hpp"

#include <array>

namespace hummer {

std::span<const Command> cluster_commands() {
  // A row per command: {"list", "", "jobs of a cluster", &run_list}.
  static const std::array<Command, 0> commands = {};
  return commands;
}

}  // namespace hummer
