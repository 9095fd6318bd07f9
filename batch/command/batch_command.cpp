// To add a command below `hummer batch`: a function in a file of its own, and a row here.
#include <hummer/batch/command.hpp>

#include <array>

#include <fmt/format.h>

#include "example_commands.hpp"
#include "run_classes.hpp"
#include "tera_commands.hpp"

namespace hummer {
namespace {

constexpr std::array batch_commands = {
    Command{"run", "[--mapper LIBRARY.CLASS]...", "runs a job of classes, or of programs",
            &run_classes},
    Command{"wordcount", "IN... OUT", "how often each word is in texts", &run_word_count},
    Command{"grep", "PATTERN IN... OUT", "how often each text is that a pattern matches",
            &run_grep},
    Command{"join", "IN IN OUT", "lines of two texts with the same first field", &run_join},
    Command{"teragen", "ROWS OUT", "makes the input of a sort benchmark", &run_tera_generate},
    Command{"terasort", "IN... OUT", "sorts it, as a whole", &run_tera_sort},
    Command{"teravalidate", "IN...", "checks that it is sorted", &run_tera_validate},
};

std::string batch_help(const Invocation& invocation) {
  return fmt::format(
      "Runs a MapReduce job in this process: mappers, reducers and combiners as Hadoop has "
      "them.\n\n"
      "usage: {} batch COMMAND ...\n\nCommands (each knows --help):\n{}\n"
      "Exit code: 0 success, 1 failure, 2 wrong usage, 130 or 143 stopped by a signal.\n",
      invocation.program, describe_commands(batch_commands));
}

}  // namespace

int run_batch(const Invocation& invocation) {
  const std::string word = invocation.words.empty() ? "" : invocation.words.front();
  if (word == "--help" || word == "-h") {
    (void)invocation.platform.write_standard(1, batch_help(invocation));
    return 0;
  }
  const Command* const command = find_command(batch_commands, word);
  if (command == nullptr) {
    (void)invocation.platform.write_standard(
        2, word.empty()
               ? batch_help(invocation)
               : fmt::format("hummer: no command '{}': hummer batch --help lists them\n", word));
    return 2;
  }
  Invocation inner = invocation;
  inner.command = "batch " + word;
  inner.words.erase(inner.words.begin());
  return command->run(inner);
}

}  // namespace hummer
