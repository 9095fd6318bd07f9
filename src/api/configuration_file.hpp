// Reads a configuration file (base/configuration.hpp) and checks that somebody reads its tables.
#pragma once

#include <string>

#include "base/configuration.hpp"
#include "platform/platform.hpp"

namespace hummer {

// job: options of every job; the others: of the commands with these names, and client: of all
// commands that ask a JobManager.
inline constexpr std::string_view configuration_tables[] = {"job", "jobmanager", "taskmanager",
                                                            "client"};

Result<Configuration> load_configuration(Files& files, const std::string& path);

}  // namespace hummer
