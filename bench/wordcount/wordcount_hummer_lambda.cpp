// wordcount_hummer_lambda: the word count with a user's own splitter, a lambda per line, in the
// three ways in which users write it. Arguments and output: wordcount_hummer.hpp, and
//
//   --by words    with the library's range over the words of a line (default)
//   --by find     with std::string_view::find; only for text whose words are set apart by blanks
//   --by bytes    a plain loop over the bytes
#include "split_by_bytes.hpp"
#include "wordcount_hummer.hpp"

using Words = hummer::Collector<std::string_view>;

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::string by = env.argument_or("by", "words", "words, find or bytes");
  if (by == "find") {
    return run_wordcount(env, [](std::string_view line, Words& out) {
      std::size_t at = 0;
      while (at < line.size()) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        if (end > at) out(line.substr(at, end - at));
        at = end + 1;
      }
    });
  }
  if (by == "bytes") {
    return run_wordcount(env, [](std::string_view line, Words& out) { split_by_bytes(line, out); });
  }
  return run_wordcount(env, [](std::string_view line, Words& out) {
    for (const std::string_view word : hummer::words(line)) out(word);
  });
}
