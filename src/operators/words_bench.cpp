// hummer_operators_words_bench FILE [limit_mb [level]]: words per block, into batches, into the
// table.
//
// One thread does what the tasks of WordCount do per batch, without channels: blocks of 64 KiB,
// find_words into a batch of 1,024 records, the table's update. For each instruction set it
// prints processor time (the machine may be shared) of the splitter alone and of both, the best of
// several runs, in GB/s. `limit_mb` empties the table as a partial aggregate would; 0: never.
// Compare with `wordcount_handwritten --threads 1 FILE`.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/collector.hpp>
#include <hummer/detail/instruction_set.hpp>
#include <hummer/detail/state/text_table.hpp>

#include "operators/split_words_kernels.hpp"

namespace {

using hummer::InstructionSet;

constexpr std::size_t block_bytes = 64 << 10;
constexpr int rounds = 5;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<std::string_view> cut_blocks(std::string_view text) {
  std::vector<std::string_view> blocks;
  while (!text.empty()) {
    std::size_t size = std::min(block_bytes, text.size());
    while (size < text.size() && static_cast<unsigned char>(text[size]) > ' ') ++size;
    blocks.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return blocks;
}

template <typename Take>
void split(const std::vector<std::string_view>& blocks, hummer::FindWords find,
           hummer::Batch& batch, std::uint32_t records, Take&& take) {
  auto* words = batch.mutable_values<std::string_view>();
  std::size_t used = 0;  // of the batch, which several blocks may fill
  for (std::string_view block : blocks) {
    while (!block.empty()) {
      std::size_t count = 0;
      const std::size_t consumed =
          find(block.data(), block.size(), reinterpret_cast<hummer::WordView*>(words + used),
               records - used, count);
      block.remove_prefix(consumed);
      used += count;
      if (used == records || block.empty()) {
        batch.set_size(used);
        take(batch.values<std::string_view>());
        used = 0;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: words_bench FILE [limit_mb [2|3|4]]\n");
    return 2;
  }
  const std::size_t limit_mb = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::size_t limit = limit_mb == 0 ? SIZE_MAX : limit_mb << 20;
  const char* const only_level = argc > 3 ? argv[3] : nullptr;
  std::ifstream file(argv[1], std::ios::binary | std::ios::ate);
  std::string text(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0).read(text.data(), static_cast<std::streamsize>(text.size()));
  const std::size_t size = text.size();
  text.append(64, ' ');
  const auto blocks = cut_blocks(std::string_view(text).substr(0, size));
  const double gigabytes = static_cast<double>(size) * 1e-9;

  const struct {
    const char* name;
    InstructionSet level;
    hummer::FindWords find;
  } levels[] = {{"x86-64-v2", InstructionSet::v2, hummer::find_words_v2},
                {"x86-64-v3", InstructionSet::v3, hummer::find_words_v3},
                {"x86-64-v4", InstructionSet::v4, hummer::find_words_v4}};
  for (const auto& [name, level, find] : levels) {
    if (level > hummer::best_instruction_set()) continue;
    for (const std::uint32_t records : {1024u, 2048u, 4096u}) {
      if (only_level != nullptr && (name[8] != *only_level || records != 1024)) continue;
      if (records != 1024 && level != InstructionSet::v4) continue;
      hummer::Batch batch(hummer::type_of<std::string_view>(), records);
      double split_seconds = 1e9;
      double both_seconds = 1e9;
      std::size_t words = 0;
      std::size_t distinct = 0;
      std::uint64_t sum = 0;
      for (int round = 0; round < rounds; ++round) {
        words = 0;
        double begin = processor_seconds();
        split(blocks, find, batch, records,
              [&](std::span<const std::string_view> views) { words += views.size(); });
        split_seconds = std::min(split_seconds, processor_seconds() - begin);

        hummer::TextTable<std::uint64_t> table(0, level);
        sum = 0;
        distinct = 0;
        begin = processor_seconds();
        split(blocks, find, batch, records, [&](std::span<const std::string_view> views) {
          table.update_views(views, [](std::uint64_t& value, bool, std::size_t) { ++value; });
          if (table.at_limit(limit)) {
            distinct += table.size();
            table.clear();
          }
        });
        both_seconds = std::min(both_seconds, processor_seconds() - begin);
        distinct += table.size();
        table.scan(0, [&](std::string_view, std::uint64_t value) {
          sum += value;
          return true;
        });
      }
      if (limit == SIZE_MAX && sum != words) std::abort();
      std::printf(
          "%s %u records: split %.2f GB/s, split and count %.3f GB/s (%zu words, %zu keys)\n", name,
          records, gigabytes / split_seconds, gigabytes / both_seconds, words, distinct);
    }
  }
}
