// throwing_wordcount: a word count whose user function throws at the word --throw-at. For
// bench/acceptance/engine/09-bad-input: the job must fail and say where. Other arguments:
// wordcount_hummer.hpp.
#include <stdexcept>

#include "wordcount_hummer.hpp"

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::string input = env.argument("input", "file, directory or pattern to read");
  const std::string output = env.argument("output", "file to write");
  const std::string bad = env.argument("throw-at", "the word that is refused");
  env.from_file(input)
      .flat_map(hummer::split_words)
      .map([bad](std::string_view word) {
        if (word == bad) throw std::runtime_error("no such word: '" + std::string(word) + "'");
        return word;
      })
      .name("check words")
      .key_by(hummer::identity)
      .count()
      .write_file(output);
  return env.execute("Throwing").exit_code();
}
