#include "cli/hummer_program.hpp"

int main(int argc, char** argv) {
  const std::unique_ptr<hummer::Platform> platform = hummer::make_linux_platform();
  hummer::BuiltInJobLibraries libraries;
  return hummer::run_hummer(argc, argv, *platform, libraries);
}
