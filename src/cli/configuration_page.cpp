#include "cli/configuration_page.hpp"

#include <fmt/format.h>

#include "api/options/option_programs.hpp"

namespace hummer {
namespace {

constexpr std::string_view introduction = R"(# Configuration

Every option can come from four places; what stands further down wins:

1. its default;
2. one TOML file, which `--config FILE` or `HUMMER_CONFIG` names;
3. a variable of the environment (one that is empty counts as not set);
4. a flag on the command line.

```toml
[cluster]                           # for all programs: the options marked "shared" below
job-manager = "10.0.0.1:6123"
token-file = "/etc/hummer/token"

[jobmanager]                        # the tables of the programs win over [cluster]
listen = "10.0.0.1:6123"
heartbeat-timeout = 10

[taskmanager]
slots = 4
data-address = ["eth0=10.0.0.2:0", "eth1=10.0.1.2:0"]

[job]
checkpoint-dir = "/var/lib/hummer/checkpoints"
memory-limit = "4GiB"
```

`hummer config show [jobmanager|taskmanager|local|client|job] [flags]` prints the values in effect, and where each comes from.

What is wrong is refused before anything starts, with its place, what was expected and, for a misspelt name, the one that is
meant: keys and tables of the file (all of them, whoever reads the file) and flags. Of a variable that begins with `HUMMER_` and
that nothing reads there is a warning, with the one that is meant, since it may be another program's; with `strict-variables` it is
refused. Variables `HUMMER_TEST_…`, those of the repository's own scripts, and those that Kubernetes makes for services are left
alone.

Types: a *switch* is `true` or `false` (a bare flag is true; variables may also say 1/0, on/off, yes/no); a *number* may have
limits; a *size* is a number of bytes or a text such as `512M` or `4GiB` (powers of 1024); an *address* is `HOST:PORT`; a *list*
stands in the file as `["a", "b"]`, in a variable as `a,b`, and a flag may be given several times. The file's language is TOML 1.0
without dotted keys, arrays of tables, inline tables, texts of several lines and dates.

Arguments that say what one call of a command does (`--json`, `--follow`, `--savepoint`) are no configuration: each command's `--help`
lists them.
)";

std::string type_of(const Option& option) {
  const auto limits = [&]() -> std::string {
    if (option.least == 0 && option.most == 0) return "";
    return fmt::format(" {} to {}", option.least, option.most);
  };
  std::string type;
  switch (option.type) {
    case OptionType::on_off: return "switch";
    case OptionType::integer: type = "whole number" + limits(); break;
    case OptionType::decimal: type = "number" + limits(); break;
    case OptionType::size: type = "size"; break;
    case OptionType::choice: type = fmt::format("{}", fmt::join(option.choices, ", ")); break;
    case OptionType::address:
      type = "address";
      if (!option.choices.empty()) type += fmt::format(" or {}", fmt::join(option.choices, ", "));
      break;
    case OptionType::text:
    case OptionType::of_member:
      type = option.value == "FILE" || option.value == "DIR" || option.value == "PATH" ? "path"
                                                                                       : "text";
  }
  return option.many ? "list of " + type : type;
}

std::string name_cell(const Option& option) {
  std::string name = fmt::format("`{}`", option.name);
  if (option.shared) name += " (shared)";
  if (!option.in_files) name += option.in_flags ? " (no key)" : " (variable only)";
  return name;
}

}  // namespace

std::string configuration_page() {
  std::string page(introduction);
  for (const OptionProgram& program : option_programs()) {
    page += fmt::format("\n## [{}]\n\nFor {}.\n\n", program.name, program.summary);
    page +=
        "| option | type | unit | default | variable | what it does |\n"
        "|---|---|---|---|---|---|\n";
    for (const Option& option : program.options) {
      page += fmt::format("| {} | {} | {} | {} | `{}` | {} |\n", name_cell(option), type_of(option),
                          option.type == OptionType::size ? "bytes" : option.unit,
                          default_text(program, option), variable_of(option), option.description);
    }
  }
  return page;
}

}  // namespace hummer
