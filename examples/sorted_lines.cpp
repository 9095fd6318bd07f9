// Sorts the lines of a text, however large: --input a file, directory or pattern; --output a file.
// By their bytes; with --by-number by the number that a line begins with, the largest first.
#include <hummer/hummer.hpp>

#include <charconv>

std::int64_t number_of(std::string_view line) {
  std::int64_t number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

void sorted_lines(hummer::StreamExecutionEnvironment& env) {
  const auto lines = env.from_file(env.argument("input", "file, directory or pattern to read"));
  const auto sorted = env.flag("by-number", "sort by the number in front, the largest first")
                          ? lines.sort(number_of, hummer::SortOrder::descending)
                          : lines.sort(hummer::identity);
  sorted.write_file(env.argument_or("output", "-", "file to write"));
  env.execute("SortedLines");
}

HUMMER_JOB(sorted_lines)
