// Counts the words of a text: --input a file, directory or pattern; --output a file, or -
// (default).
#include <hummer/hummer.hpp>

void word_count(hummer::StreamExecutionEnvironment& env) {
  env.from_file(env.argument("input", "file, directory or pattern to read"))
      .flat_map(hummer::split_words)
      .key_by(hummer::identity)
      .count()
      .write_file(env.argument_or("output", "-", "file to write; - is standard output"));
  env.execute("WordCount");
}

HUMMER_JOB(word_count)
