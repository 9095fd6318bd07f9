#include "cli/hummer_program.hpp"
#include "job_library/dynamic_job_libraries.hpp"

int main(int argc, char** argv) {
  const std::unique_ptr<hummer::Platform> platform = hummer::make_linux_platform();
  hummer::DynamicJobLibraries libraries;
  return hummer::run_hummer(argc, argv, *platform, libraries);
}
