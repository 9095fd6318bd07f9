// wordcount_hummer: the word count of docs and examples, with the library's splitter, which sees
// whole blocks of lines. Arguments and output: wordcount_hummer.hpp.
#include "wordcount_hummer.hpp"

int main(int argc, char** argv) { return run_wordcount(argc, argv, hummer::split_words); }
