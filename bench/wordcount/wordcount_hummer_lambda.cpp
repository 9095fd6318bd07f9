// wordcount_hummer_lambda: the word count with a user's own splitter, a lambda per line, written
// the straightforward way. Arguments and output: wordcount_hummer.hpp.
#include "wordcount_hummer.hpp"

int main(int argc, char** argv) {
  return run_wordcount(
      argc, argv, [](std::string_view line, hummer::Collector<std::string_view>& out) {
        const auto is_delimiter = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
        std::size_t at = 0;
        while (at < line.size()) {
          const std::size_t begin = at;
          while (at < line.size() && !is_delimiter(line[at])) ++at;
          if (at > begin) out(line.substr(begin, at - begin));
          ++at;
        }
      });
}
