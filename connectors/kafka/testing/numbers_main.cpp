// The two ends of numbering_job, for items that kill what is between them.
//
//   kafka_numbers make BROKERS             two topics; prints their names
//   kafka_numbers grow BROKERS TOPIC N     gives it so many partitions
//   kafka_numbers write BROKERS FROM SEED  records of drawn keys, some thousand a second, until its
//                                          input ends; then how many of each key: lines KEY COUNT
//   kafka_numbers check BROKERS TO         what readers of committed records see: the same lines.
//                                          Exit code 1 when a number comes twice, or not in order
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "testing/brokers.hpp"

namespace {

using hummer::kafka::Brokers;
using hummer::kafka::Written;

void print(const std::map<std::string, std::uint64_t>& counts) {
  for (const auto& [key, count] : counts) {
    std::printf("%s %llu\n", key.c_str(), static_cast<unsigned long long>(count));
  }
}

bool input_has_ended() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char byte;
  return ::poll(&input, 1, 20) > 0 && ::read(STDIN_FILENO, &byte, 1) == 0;
}

void write(Brokers& brokers, const std::string& topic, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<std::string, std::uint64_t> counts;
  while (!input_has_ended()) {
    std::vector<Written> records;
    for (int i = 0; i < 200; ++i) {
      const std::string key = "key-" + std::to_string(random() % 100);
      records.push_back({.key = key, .value = ""});
      ++counts[key];
    }
    brokers.write(topic, records);
  }
  print(counts);
}

int check(Brokers& brokers, const std::string& topic) {
  std::map<std::string, std::uint64_t> seen;
  int wrong = 0;
  for (const Written& record : brokers.read(topic)) {
    const std::uint64_t expected = ++seen[record.key];
    if (*record.value == std::to_string(expected)) continue;
    if (++wrong < 10) {
      std::fprintf(stderr, "%s: %s instead of %llu\n", record.key.c_str(), record.value->c_str(),
                   static_cast<unsigned long long>(expected));
    }
  }
  print(seen);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // What brokers.cpp expects is a failure of the program.
  testing::GTEST_FLAG(throw_on_failure) = true;
  testing::InitGoogleTest(&argc, argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2)
    return std::fprintf(stderr, "kafka_numbers make|grow|write|check BROKERS …\n"), 2;
  const std::unique_ptr<Brokers> brokers = Brokers::at(words[1]);
  if (words[0] == "make") {
    std::printf("%s\n", brokers->make_topic("in", 4).c_str());
    std::printf("%s\n", brokers->make_topic("out", 3).c_str());
  } else if (words[0] == "grow" && words.size() == 4) {
    brokers->add_partitions(words[2], std::stoi(words[3]));
  } else if (words[0] == "write" && words.size() == 4) {
    write(*brokers, words[2], std::stoull(words[3]));
  } else if (words[0] == "check" && words.size() == 3) {
    return check(*brokers, words[2]);
  }
  return 0;
}
