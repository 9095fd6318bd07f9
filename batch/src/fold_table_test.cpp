#include "fold_table.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

namespace hummer::batch::fold_table_test {
namespace {

RecordView view_of(const std::string& key) {
  return {key.data(), key.data(), static_cast<std::uint32_t>(key.size()), 0};
}

// Counts keys; when the table is full, what is in it goes to `counts`.
void count(FoldTable& table, const std::vector<std::string>& keys,
           std::map<std::string, std::uint64_t>& counts, std::size_t& fills) {
  const auto hand_over = [&] {
    std::vector<Folder::Entry> entries(7);
    std::size_t at = 0;
    std::size_t handed = 0;
    while (const std::size_t read = table.read(at, entries)) {
      for (const Folder::Entry& entry : std::span(entries).first(read)) {
        std::uint64_t number;
        std::memcpy(&number, entry.state, sizeof number);
        counts[std::string(entry.key)] += number;
      }
      handed += read;
    }
    EXPECT_EQ(handed, table.size());
    table.clear();
    ++fills;
  };
  std::vector<RecordView> views;
  for (const std::string& key : keys) views.push_back(view_of(key));
  std::vector<void*> states(FoldTable::most_records);
  std::vector<void*> added(FoldTable::most_records);
  std::span<const RecordView> rest(views);
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), FoldTable::most_records));
    const FoldTable::Found found = table.look_up(part, std::span(states).first(part.size()), added);
    for (std::size_t i = 0; i < found.added; ++i) std::memset(added[i], 0, 8);
    for (std::size_t i = 0; i < found.records; ++i) {
      std::uint64_t number;
      std::memcpy(&number, states[i], sizeof number);
      ++number;
      std::memcpy(states[i], &number, sizeof number);
    }
    rest = rest.subspan(found.records);
    if (found.records < part.size()) hand_over();
  }
  hand_over();
}

TEST(FoldTable, CountsWhateverRoomItHas) {
  std::vector<std::string> keys;
  std::map<std::string, std::uint64_t> expected;
  for (std::size_t i = 0; i < 20'000; ++i) {
    keys.push_back("key " + std::to_string(i * i % 1'777) + std::string(i % 23, '.'));
    if (i % 100 == 0) keys.back().clear();
  }
  for (const std::string& key : keys) ++expected[key];
  for (const std::size_t memory :
       {std::size_t{1} << 10, std::size_t{20} << 10, std::size_t{8} << 20}) {
    FoldTable table(memory, 8);
    std::map<std::string, std::uint64_t> counts;
    std::size_t fills = 0;
    count(table, keys, counts, fills);
    EXPECT_EQ(counts, expected) << memory;
    EXPECT_EQ(fills > 1, memory < std::size_t{8} << 20) << memory;
  }
}

TEST(FoldTable, AKeyThatIsTooLongIsFull) {
  FoldTable table(1 << 10, 8);
  const std::string key(5'000, 'x');
  const RecordView record = view_of(key);
  void* state;
  void* added;
  const FoldTable::Found found = table.look_up({&record, 1}, {&state, 1}, {&added, 1});
  EXPECT_EQ(found.records, 0U);
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace hummer::batch::fold_table_test
