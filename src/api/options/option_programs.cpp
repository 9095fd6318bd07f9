#include "api/options/option_programs.hpp"

namespace hummer {

std::span<const OptionProgram> option_programs() {
  static const OptionProgram programs[] = {
      program_of<JobManagerSettings>(), program_of<TaskManagerSettings>(),
      program_of<LocalSettings>(), program_of<ClientSettings>(), program_of<EnvironmentOptions>()};
  return programs;
}

}  // namespace hummer
