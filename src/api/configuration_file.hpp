// Where options come from, as this process finds them: its HUMMER_* variables, and the
// configuration file that the flags or a variable name.
#pragma once

#include <string>
#include <vector>

#include "base/option_reading.hpp"
#include "platform/platform.hpp"

namespace hummer {

Result<Configuration> load_configuration(Files& files, const std::string& path);

// Errors: those of the file. Thread: the main thread.
Result<OptionSources> find_sources(Files& files, std::vector<OptionFlag> flags);

// On standard error, of the variables that nothing reads; once per process, whoever asks.
void warn_of_variables(Platform& platform, const OptionSources& sources);

}  // namespace hummer
