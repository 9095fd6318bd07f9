#include <array>
#include <string>

#include "cli/command_line.hpp"
#include "cli/hummer_program.hpp"
#include "job_library/dynamic_job_libraries.hpp"

#ifdef HUMMER_WITH_FORMATS
#include <hummer/formats/infer.hpp>
#endif

namespace hummer {
namespace {

#ifdef HUMMER_WITH_FORMATS
constexpr std::size_t sample_bytes = 4 << 20;

int run_infer(const Invocation& invocation) {
  CommandLine line(
      "Prints the C++ struct that fits the first 4 MiB of a CSV file, and the call that reads it.");
  std::string path;
  std::string record = "Record";
  line.argument("FILE", path, "with a header or without, separated by , ; TAB or |");
  line.option("--name", record, "of the struct [Record]");
  line.footer("Exit code: 0 success, 1 failure, 2 wrong usage.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  auto file = platform.files().open_for_reading(path);
  if (!file.ok()) return report(platform, file.status());
  std::string text(sample_bytes, ' ');
  const Result<std::size_t> size = (*file)->read_at(0, text);
  if (!size.ok()) return report(platform, size.status());
  text.resize(*size);
  const auto found = formats::infer_csv(text, *size == (*file)->size_bytes());
  if (!found.ok()) return report(platform, found.status().with_context("'" + path + "'"));
  (void)platform.write_standard(1, formats::to_cpp(*found, record, path));
  return 0;
}

constexpr std::array further_commands = {
    Command{"infer", "FILE [--name RECORD]", "prints the C++ struct that fits a CSV file",
            &run_infer},
};
#else
constexpr std::array<Command, 0> further_commands;
#endif

}  // namespace
}  // namespace hummer

int main(int argc, char** argv) {
  const std::unique_ptr<hummer::Platform> platform = hummer::make_linux_platform();
  hummer::DynamicJobLibraries libraries;
  return hummer::run_hummer(argc, argv, *platform, libraries, hummer::further_commands);
}
