// zipf_text: writes English-like text whose words follow a Zipf distribution.
//
//   zipf_text --bytes N [--seed S] [--vocabulary V] [--exponent Z] --out FILE
//
// The same arguments give the same bytes. Word lengths grow with rank as they do in English
// (the frequent words are short; about 5.5 bytes on average over the text), about one word of the
// vocabulary in fifty is longer than 16 bytes, sentences start with a capital, and punctuation
// sticks to its word, so that a count of what stands between blanks sees "the", "The" and "the,"
// as three words. Lines are 60 to 120 bytes; now and then a paragraph ends with an empty line.
//
// Ranks are drawn from an alias table (Walker 1977; Vose 1991): one random number and one
// look-up per word, whatever the exponent.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace {

struct Options {
  std::uint64_t size_bytes = 0;
  std::uint64_t seed = 1;
  std::uint32_t vocabulary = 200'000;
  double exponent = 1.0;
  std::string out;
};

// SplitMix64 (Steele, Lea, Flood 2014): one addition and a mix per number.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

// A word is copied as 32 bytes whatever its length, so a slot holds at most 31.
constexpr std::uint32_t longest_word = 28;
struct Word {
  char bytes[31];
  std::uint8_t length;
};
static_assert(sizeof(Word) == 32);

std::string make_word(Random& random, std::uint32_t length) {
  // Repetition stands for frequency.
  static constexpr std::string_view vowels = "eeeeeeaaaaoooiiiuuy";
  static constexpr std::string_view consonants = "tttttnnnnssssrrrrhhhddlllccmmffppggwwbvkjxqz";
  std::string word;
  bool vowel = random.below(3) == 0;
  while (word.size() < length) {
    const std::string_view letters = vowel ? vowels : consonants;
    word += letters[random.below(static_cast<std::uint32_t>(letters.size()))];
    vowel = vowel ? random.below(8) == 0 : random.below(4) != 0;
  }
  return word;
}

std::uint32_t length_of_rank(Random& random, std::uint32_t rank) {
  if (rank > 100 && random.below(50) == 0) return 17 + random.below(longest_word - 16);
  const double mean = 1.5 + 0.42 * std::log2(static_cast<double>(rank) + 2.0);
  const double spread = 0.6 + 0.8 * (random.below(1000) + random.below(1000)) / 1998.0;
  return static_cast<std::uint32_t>(std::clamp(mean * spread + 0.5, 1.0, 16.0));
}

std::vector<Word> make_vocabulary(Random& random, std::uint32_t size) {
  std::vector<Word> words(size);
  std::unordered_set<std::string> taken;
  taken.reserve(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    std::string word;
    std::uint32_t length = length_of_rank(random, rank);
    for (int attempt = 1;; ++attempt) {
      if (rank > 200 && random.below(100) == 0) {
        word = std::to_string(random.below(100'000));
      } else {
        word = make_word(random, length);
        if (rank > 500 && random.below(12) == 0) word[0] = static_cast<char>(word[0] - 'a' + 'A');
      }
      if (taken.insert(word).second) break;
      if (attempt % 8 == 0 && length < longest_word) ++length;  // the short ones are used up
    }
    std::memcpy(words[rank].bytes, word.data(), word.size());
    words[rank].length = static_cast<std::uint8_t>(word.size());
  }
  return words;
}

class AliasTable {
 public:
  AliasTable(std::uint32_t size, double exponent) : cells_(size) {
    std::vector<double> weights(size);
    double sum = 0;
    for (std::uint32_t i = 0; i < size; ++i) sum += weights[i] = std::pow(i + 1.0, -exponent);
    std::vector<std::uint32_t> small, large;
    for (std::uint32_t i = 0; i < size; ++i) {
      weights[i] *= size / sum;
      (weights[i] < 1.0 ? small : large).push_back(i);
    }
    while (!small.empty() && !large.empty()) {
      const std::uint32_t low = small.back();
      const std::uint32_t high = large.back();
      small.pop_back();
      cells_[low] = {static_cast<std::uint32_t>(weights[low] * 4294967295.0), high};
      weights[high] -= 1.0 - weights[low];
      if (weights[high] < 1.0) {
        large.pop_back();
        small.push_back(high);
      }
    }
    for (const std::uint32_t i : small) cells_[i] = {0xffffffff, i};
    for (const std::uint32_t i : large) cells_[i] = {0xffffffff, i};
  }

  std::uint32_t draw(std::uint64_t random) const {
    const auto cell = static_cast<std::uint32_t>(((random >> 32) * cells_.size()) >> 32);
    return static_cast<std::uint32_t>(random) <= cells_[cell].threshold ? cell : cells_[cell].alias;
  }

 private:
  struct Cell {
    std::uint32_t threshold = 0;
    std::uint32_t alias = 0;
  };
  std::vector<Cell> cells_;
};

[[noreturn]] void fail(const char* what, const std::string& name) {
  std::fprintf(stderr, "zipf_text: %s %s: %s\n", what, name.c_str(), std::strerror(errno));
  std::exit(1);
}

void write_all(int file, const char* data, std::size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t written = ::write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", name);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

void generate(const Options& options) {
  Random random(options.seed);
  const std::vector<Word> words = make_vocabulary(random, options.vocabulary);
  const AliasTable ranks(options.vocabulary, options.exponent);

  const int file = ::open(options.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail("cannot create", options.out);

  constexpr std::size_t buffer_size = 1 << 20;
  std::vector<char> buffer(buffer_size + 256);
  char* out = buffer.data();
  std::uint64_t left = options.size_bytes;
  char* line_end = out + 60 + random.below(61);
  bool sentence_starts = true;
  while (left > 0) {
    const Word& word = words[ranks.draw(random.next())];
    std::memcpy(out, &word, sizeof(word));
    const char first = *out;
    *out = sentence_starts && first >= 'a' ? static_cast<char>(first - 'a' + 'A') : first;
    out += word.length;
    sentence_starts = false;

    const std::uint64_t dice = random.next();
    const auto mark = static_cast<std::uint32_t>(dice & 4095);
    if (mark < 344) {  // 4.4 % end a sentence, 4.0 % a clause
      const bool ends = mark < 180;
      *out++ = mark < 174 ? '.' : mark < 178 ? '?' : mark < 180 ? '!' : mark < 340 ? ',' : ';';
      sentence_starts = ends;
    }
    if (out < line_end) {
      *out++ = ' ';
    } else {
      *out++ = '\n';
      if (sentence_starts && ((dice >> 13) & 3) == 0) *out++ = '\n';
      if (out >= buffer.data() + buffer_size - 512) {
        const auto size =
            std::min<std::uint64_t>(left, static_cast<std::size_t>(out - buffer.data()));
        if (size == left) buffer[size - 1] = '\n';
        write_all(file, buffer.data(), size, options.out);
        left -= size;
        out = buffer.data();
      }
      line_end = out + 56 + ((((dice >> 16) & 0xffff) * 58) >> 16);
    }
    if (static_cast<std::uint64_t>(out - buffer.data()) >= left) {
      buffer[left - 1] = '\n';
      write_all(file, buffer.data(), left, options.out);
      left = 0;
    }
  }
  if (::close(file) != 0) fail("cannot close", options.out);
}

[[noreturn]] void usage() {
  std::fprintf(
      stderr, "usage: zipf_text --bytes N [--seed S] [--vocabulary V] [--exponent Z] --out FILE\n");
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) usage();
    const std::string_view name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--bytes") {
      options.size_bytes = std::strtoull(value, nullptr, 10);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--vocabulary") {
      options.vocabulary = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
    } else if (name == "--exponent") {
      options.exponent = std::strtod(value, nullptr);
    } else if (name == "--out") {
      options.out = value;
    } else {
      usage();
    }
  }
  if (options.out.empty() || options.vocabulary == 0 || options.vocabulary > 20'000'000) usage();
  return options;
}

}  // namespace

int main(int argc, char** argv) { generate(parse(argc, argv)); }
