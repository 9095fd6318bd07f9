// Counts the words of a text that never ends: the lines of --input (a file) come again and again,
// --rate of them a second. What is counted goes to --output; - is standard output.
//
// Version 2 is what docs/operations.md upgrades to while it runs: it leaves out short words, and
// goes on with the counts of version 1, which it finds by the uids.
#include <hummer/hummer.hpp>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef LIVE_WORDS_VERSION
#define LIVE_WORDS_VERSION 1
#endif

namespace {

constexpr std::size_t shortest_word = LIVE_WORDS_VERSION >= 2 ? 4 : 1;

using Lines = std::vector<std::string>;

std::shared_ptr<const Lines> read_lines(const std::string& path) {
  auto lines = std::make_shared<Lines>();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines->push_back(line);
  if (lines->empty()) throw std::runtime_error("no lines in '" + path + "'");
  return lines;
}

void long_words(std::string_view line, hummer::Collector<std::string_view>& out) {
  for (const std::string_view word : hummer::words(line)) {
    if (word.size() >= shortest_word) out(word);
  }
}

void live_words(hummer::StreamExecutionEnvironment& env) {
  const std::string path = env.argument("input", "text whose lines come again and again");
  const double rate = std::stod(env.argument_or("rate", "1000", "lines per second"));
  const std::string output = env.argument_or("output", "-", "file to write; - is standard output");
  const std::shared_ptr<const Lines> lines = read_lines(path);
  const auto line = [lines](std::uint64_t i) { return (*lines)[i % lines->size()]; };
  // Every worker reads the file, and so must see it.
  env.generate(hummer::rebuildable(line, path), {.records_per_second = rate})
      .uid("lines")
      .flat_map(long_words)
      .uid("words")
      .key_by(hummer::identity)
      .count()
      .uid("counts")
      .write_file(output)
      .uid("output");
  env.execute("LiveWords");
}

}  // namespace

HUMMER_JOB(live_words)
