// Counts the words of a text: --input a file, directory or pattern; --output a file, or -
// (default).
#include <hummer/hummer.hpp>

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  env.from_file(env.argument("input", "file, directory or pattern to read"))
      .flat_map(hummer::split_words)
      .key_by(hummer::identity)
      .count()
      .write_file(env.argument_or("output", "-", "file to write; - is standard output"));
  return env.execute("WordCount").exit_code();
}
