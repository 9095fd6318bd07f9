// The programs that have options, and read_settings: all sources of one program into its settings.
//
// This is the engine's whole table of options: what no row here names does not exist for flags,
// variables and files alike. base/option.hpp says how to add one. The rows of jobs are in
// job_options.cpp, the others in cluster_options.cpp.
#pragma once

#include <span>
#include <vector>

#include <hummer/environment.hpp>

#include "api/options/settings.hpp"
#include "base/option_reading.hpp"

namespace hummer {

// Which program a settings struct belongs to.
template <typename Settings>
const OptionProgram& program_of();
template <>
const OptionProgram& program_of<EnvironmentOptions>();  // "job"
template <>
const OptionProgram& program_of<JobManagerSettings>();  // "jobmanager"
template <>
const OptionProgram& program_of<TaskManagerSettings>();  // "taskmanager"
template <>
const OptionProgram& program_of<LocalSettings>();  // "local"
template <>
const OptionProgram& program_of<ClientSettings>();  // "client"

std::span<const OptionProgram> option_programs();

// See base/option_reading.hpp.
template <typename Settings>
Result<std::vector<EffectiveOption>> read_settings(const OptionSources& sources,
                                                   Settings& settings) {
  return read_options(program_of<Settings>(), option_programs(), sources, &settings);
}

}  // namespace hummer
