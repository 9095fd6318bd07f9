// result_hash FILE...: prints the hash, the number of lines and the sum of the counts of
// `word<tab>count` lines (all files taken as one) as a JSON line. See result_hash.hpp.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "result_hash.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: result_hash FILE...\n");
    return 2;
  }
  ResultHash sum;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string lines{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) {
      std::fprintf(stderr, "result_hash: cannot read %s\n", argv[i]);
      return 1;
    }
    const ResultHash one = result_hash(lines);
    sum.hash += one.hash;
    sum.distinct += one.distinct;
    sum.words += one.words;
  }
  std::printf("{\"words\": %llu, \"distinct\": %llu, \"hash\": \"%016llx\"}\n",
              static_cast<unsigned long long>(sum.words),
              static_cast<unsigned long long>(sum.distinct),
              static_cast<unsigned long long>(sum.hash));
}
