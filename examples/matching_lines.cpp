// Prints the lines of a text in which a word occurs: --input a file, directory or pattern; --word.
#include <hummer/hummer.hpp>

void matching_lines(hummer::StreamExecutionEnvironment& env) {
  const std::string word = env.argument("word", "what to look for");
  const auto has_word = [word](std::string_view line) { return line.find(word) != line.npos; };
  env.from_file(env.argument("input", "file, directory or pattern to read"))
      // Workers build this job again; what a function captured is compared then.
      .filter(hummer::rebuildable(has_word, word))
      .print();
  env.execute("MatchingLines");
}

HUMMER_JOB(matching_lines)
