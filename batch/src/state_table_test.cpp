#include <hummer/batch/folder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace hummer::batch::state_table_test {
namespace {

RecordView view_of(const std::string& key) {
  return {key.data(), key.data(), static_cast<std::uint32_t>(key.size()), 0};
}

// What a table emits.
class Counts final : public RecordOutput {
 public:
  std::map<std::string, std::uint64_t> of;
  std::size_t entries = 0;

 private:
  Status take(std::span<const RecordView> records) override {
    for (const RecordView& record : records) {
      of[std::string(record.key())] += std::stoull(std::string(record.value()));
      ++entries;
    }
    return Status();
  }
};

struct Count {
  std::uint64_t records = 0;
};
class CountFolder final : public StateFolder<CountFolder, Count> {
 public:
  void fold_record(Count& count, const RecordView& /*record*/) { ++count.records; }
  void emit_state(std::string_view key, const Count& count, RecordOutput& output) {
    output.emit(key, std::to_string(count.records));
  }
};

std::size_t fold(FoldTable& table, std::span<const RecordView> records) {
  return table.fold(records);
}
std::size_t fold(FoldTable& table, std::span<const std::string_view> keys) {
  return table.fold_keys(keys, "");
}

// Counts keys, given as records or by themselves; when the table is full, what is in it goes to
// `counts`. How often that was.
template <typename Key>
std::size_t count(FoldTable& table, const std::vector<Key>& keys, Counts& counts) {
  std::size_t fills = 0;
  const auto hand_over = [&] {
    const std::size_t expected = counts.entries + table.size();
    table.emit(counts);
    counts.flush();
    EXPECT_EQ(counts.entries, expected);
    table.clear();
    EXPECT_EQ(table.size(), 0U);
    ++fills;
  };
  for (std::span<const Key> rest(keys); !rest.empty();) {
    const auto part = rest.first(std::min<std::size_t>(rest.size(), 1'000));
    const std::size_t folded = fold(table, part);
    rest = rest.subspan(folded);
    if (folded < part.size()) hand_over();
  }
  hand_over();
  return fills;
}

std::vector<RecordView> records_of(const std::vector<std::string>& keys) {
  std::vector<RecordView> records;
  for (const std::string& key : keys) records.push_back(view_of(key));
  return records;
}

std::map<std::string, std::uint64_t> model_of(const std::vector<std::string>& keys) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& key : keys) ++counts[key];
  return counts;
}

TEST(StateTable, CountsWhateverRoomItHas) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 20'000; ++i) {
    keys.push_back("key " + std::to_string(i * i % 1'777) + std::string(i % 23, '.'));
    if (i % 100 == 0) keys.back().clear();
    if (i % 50 == 0) keys.back().append(100 + i % 300, '-');
  }
  const auto expected = model_of(keys);
  for (const std::size_t memory :
       {std::size_t{1} << 10, std::size_t{40} << 10, std::size_t{16} << 20}) {
    CountFolder folder;
    const auto table = folder.make_table(memory);
    Counts counts, counts_of_keys;
    const std::size_t fills = count(*table, records_of(keys), counts);
    EXPECT_EQ(counts.of, expected) << memory;
    EXPECT_EQ(fills > 1, memory < std::size_t{16} << 20) << memory;
    EXPECT_EQ(
        count(*table, std::vector<std::string_view>(keys.begin(), keys.end()), counts_of_keys),
        fills);
    EXPECT_EQ(counts_of_keys.of, expected) << memory;
  }
}

// A reduce task relies on it: of sorted records each key goes out once.
TEST(StateTable, IsFullOnlyAtANewKey) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 30'000; ++i) keys.push_back("key " + std::to_string(i % 4'000));
  std::sort(keys.begin(), keys.end());
  CountFolder folder;
  const auto table = folder.make_table(std::size_t{1} << 10);
  Counts counts;
  EXPECT_GT(count(*table, records_of(keys), counts), 5U);
  EXPECT_EQ(counts.of, model_of(keys));
  EXPECT_EQ(counts.entries, 4'000U);
}

TEST(StateTable, AKeyThatIsTooLongIsFull) {
  CountFolder folder;
  const auto table = folder.make_table(1 << 10);
  const std::string key(5'000, 'x');
  const RecordView record = view_of(key);
  EXPECT_EQ(table->fold({&record, 1}), 0U);
  const std::string_view view = key;
  EXPECT_EQ(table->fold_keys({&view, 1}, ""), 0U);
  EXPECT_EQ(table->size(), 0U);
}

}  // namespace
}  // namespace hummer::batch::state_table_test
