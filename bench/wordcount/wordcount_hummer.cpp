// wordcount_hummer: the word count of docs and examples, with the library's splitter, which sees
// whole blocks of lines. Arguments and output: wordcount_hummer.hpp.
#include "wordcount_hummer.hpp"

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  return run_wordcount(env, hummer::split_words);
}
