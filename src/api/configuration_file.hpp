// Reads a configuration file (base/configuration.hpp) and checks that somebody reads its tables.
#pragma once

#include <string>

#include "base/configuration.hpp"
#include "platform/platform.hpp"

namespace hummer {

// Those that something reads. job: options of every job.
inline constexpr std::string_view configuration_tables[] = {"job"};

Result<Configuration> load_configuration(Files& files, const std::string& path);

}  // namespace hummer
