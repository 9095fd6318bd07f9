#include "cli/commands/reference.hpp"

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/configuration_page.hpp"
#include "cli/exit_codes.hpp"
#include "observability/metrics_text.hpp"
#include "rest/rest_api.hpp"

namespace hummer {
namespace {

struct Page {
  std::string_view name;
  std::string_view file;  // where the repository keeps it
  std::string (*text)();
};

std::string metrics_page() {
  return "# Metrics\n\n"
         "What `/metrics` says, in Prometheus' text format 0.0.4. The JobManager knows jobs, "
         "vertices and operators: sums\nover their subtasks, as of the TaskManagers' last reports; "
         "an ended job's stay until the JobManager forgets it.\nEach TaskManager knows what runs "
         "in its own process: tasks, channels, slots, memory (`hummer "
         "taskmanager\n--rest-listen`). "
         "A share of time is the rate of its seconds: "
         "`rate(hummer_slot_busy_seconds_total[1m])`.\n`docs/grafana_dashboard.json` draws them. "
         "Where a job's own functions count under a NAME (docs/writing_a_job.md),\nthat stands in "
         "the metric's; each attempt of the job begins them, and those of pre-aggregations, at "
         "0.\n"
         "A histogram has a bucket to each power of two, from the least to the greatest value "
         "that came."
         "\n\n" +
         metrics_reference();
}

constexpr Page pages[] = {
    {"openapi", "docs/openapi.json", &open_api_document},
    {"metrics", "docs/metrics.md", &metrics_page},
    {"exit_codes", "docs/exit_codes.md", &exit_codes_page},
    {"configuration", "docs/configuration.md", &configuration_page},
};

}  // namespace

int run_reference(const Invocation& invocation) {
  CommandLine line("Prints a reference page that is written from the engine's own tables.");
  std::string name, footer = "Pages:\n";
  line.argument("PAGE", name, "which page");
  for (const Page& page : pages) footer += fmt::format("  {:<14} {}\n", page.name, page.file);
  line.footer(footer);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  for (const Page& page : pages) {
    if (page.name != name) continue;
    (void)invocation.platform.write_standard(1, page.text());
    return 0;
  }
  (void)invocation.platform.write_standard(
      2, fmt::format("hummer: no page '{}'; --help lists them\n", name));
  return 2;
}

}  // namespace hummer
