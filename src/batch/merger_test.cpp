#include "batch/merger.hpp"

#include <gtest/gtest.h>

#include <map>

#include "batch/combined_records.hpp"
#include "batch/records_for_test.hpp"

namespace hummer::batch::merger_test {
namespace {

// Parts of the records, each sorted, as streams: record i goes into part i * parts / records, so
// that the order of the parts is that in which records came.
std::vector<std::unique_ptr<RecordStream>> sorted_parts(const KeyOrder& order,
                                                        const KeysAndValues& records,
                                                        std::size_t parts,
                                                        std::size_t span_records) {
  std::vector<std::unique_ptr<RecordStream>> streams;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto place = [&](std::size_t of_part) {
      return records.begin() + static_cast<std::ptrdiff_t>(of_part * records.size() / parts);
    };
    KeysAndValues of_part(place(part), place(part + 1));
    sort_stably(order, of_part);
    streams.push_back(std::make_unique<RecordsForTest>(std::move(of_part), span_records));
  }
  return streams;
}

TEST(Merger, MergesStably) {
  Random random(1);
  const KeyOrder order;
  for (const char* kind : drawn_kinds) {
    for (const std::size_t parts : {1, 2, 3, 5, 8, 37, 100}) {
      for (const std::size_t span_records : {1, 3, 1000}) {
        KeysAndValues records = draw_records(random, kind, 700);
        Merger merger(order, sorted_parts(order, records, parts, span_records));
        KeysAndValues merged;
        ASSERT_TRUE(read_all(merger, merged).ok());
        sort_stably(order, records);
        ASSERT_TRUE(merged == records) << kind << ' ' << parts << ' ' << span_records;
      }
    }
  }
}

TEST(Merger, MergesByEachOrder) {
  Random random(2);
  for (const char* name : {"text", "int", "long", "vint", "double"}) {
    const KeyOrder order = *key_order_of(name);
    KeysAndValues records = draw_records(random, "eight bytes", 2'000);
    Merger merger(order, sorted_parts(order, records, 7, 100));
    KeysAndValues merged;
    ASSERT_TRUE(read_all(merger, merged).ok());
    sort_stably(order, records);
    ASSERT_TRUE(merged == records) << name;
  }
}

TEST(Merger, HasNothingOfNoStreamsAndOfEmptyOnes) {
  for (const std::size_t parts : {0, 1, 2, 5}) {
    Merger merger(KeyOrder(), sorted_parts(KeyOrder(), {}, parts, 10));
    KeysAndValues merged;
    EXPECT_TRUE(read_all(merger, merged).ok());
    EXPECT_TRUE(merged.empty());
  }
}

TEST(Merger, PassesFailuresOn) {
  for (const std::size_t others : {0, 1, 4}) {
    for (const std::size_t records : {0, 5}) {
      const KeysAndValues few(records, KeyAndValue("key", "value"));
      std::vector<std::unique_ptr<RecordStream>> streams;
      for (std::size_t i = 0; i < others; ++i) {
        streams.push_back(std::make_unique<RecordsForTest>(few, 2));
      }
      streams.push_back(
          std::make_unique<RecordsForTest>(few, 2, Status(ErrorCode::corrupt_file, "broken")));
      Merger merger(KeyOrder(), std::move(streams));
      KeysAndValues merged;
      EXPECT_EQ(read_all(merger, merged).code(), ErrorCode::corrupt_file);
    }
  }
}

// Groups as they should be: by key, values in their order.
using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;

Groups groups_of(const KeysAndValues& sorted) {
  Groups groups;
  for (const auto& [key, value] : sorted) {
    if (groups.empty() || groups.back().first != key) groups.push_back({key, {}});
    groups.back().second.push_back(value);
  }
  return groups;
}

TEST(GroupReader, ReadsGroups) {
  Random random(3);
  for (const char* kind : drawn_kinds) {
    for (const std::size_t span_records : {1, 2, 7, 1000}) {
      KeysAndValues records = draw_records(random, kind, 300);
      sort_stably(KeyOrder(), records);
      RecordsForTest stream(records, span_records);
      GroupReader reader(stream, KeyOrder());
      Groups groups;
      for (;;) {
        auto more = reader.next_group();
        ASSERT_TRUE(more.ok());
        if (!*more) break;
        groups.push_back({std::string(reader.key()), {}});
        while (reader.next_value()) {
          EXPECT_EQ(reader.key(), groups.back().first);
          groups.back().second.emplace_back(reader.value());
        }
        EXPECT_FALSE(reader.next_value());
        ASSERT_TRUE(reader.status().ok());
      }
      ASSERT_TRUE(groups == groups_of(records)) << kind << ' ' << span_records;
    }
  }
}

TEST(GroupReader, PassesOverValuesThatNobodyAsksFor) {
  Random random(4);
  for (const std::size_t span_records : {1, 5, 1000}) {
    KeysAndValues records = draw_records(random, "few distinct", 200);
    sort_stably(KeyOrder(), records);
    const Groups groups = groups_of(records);
    RecordsForTest stream(records, span_records);
    GroupReader reader(stream, KeyOrder());
    std::size_t count = 0;
    for (; *reader.next_group(); ++count) {
      ASSERT_LT(count, groups.size());
      EXPECT_EQ(reader.key(), groups[count].first);
      for (std::size_t i = random.below(4); i > 0; --i) EXPECT_TRUE(reader.next_value());
    }
    EXPECT_EQ(count, groups.size());
    EXPECT_FALSE(*reader.next_group());
  }
}

TEST(GroupReader, TellsAFailureInAGroup) {
  RecordsForTest stream({{"a", "1"}, {"a", "2"}}, 1, Status(ErrorCode::corrupt_file, "broken"));
  GroupReader reader(stream, KeyOrder());
  ASSERT_TRUE(*reader.next_group());
  EXPECT_TRUE(reader.next_value());
  EXPECT_TRUE(reader.next_value());
  EXPECT_FALSE(reader.next_value());
  EXPECT_EQ(reader.status().code(), ErrorCode::corrupt_file);
  EXPECT_EQ(reader.next_group().status().code(), ErrorCode::corrupt_file);
}

class Longest final : public Combiner {
 public:
  Status combine(GroupReader& group, RecordBuffer& out) override {
    std::string longest;
    while (group.next_value()) {
      if (group.value().size() >= longest.size()) longest = group.value();
    }
    out.add(group.key(), longest);
    return Status();
  }
};

TEST(CombinedRecords, CombinesGroups) {
  Random random(5);
  for (const char* kind : drawn_kinds) {
    KeysAndValues records = draw_records(random, kind, 2'000);
    sort_stably(KeyOrder(), records);
    RecordsForTest stream(records, 100);
    Longest longest;
    CombinedRecords combined(stream, KeyOrder(), longest);
    KeysAndValues result, expected;
    ASSERT_TRUE(read_all(combined, result).ok());
    for (const auto& [key, values] : groups_of(records)) {
      std::string of_group;
      for (const std::string& value : values) {
        if (value.size() >= of_group.size()) of_group = value;
      }
      expected.emplace_back(key, of_group);
    }
    EXPECT_TRUE(result == expected) << kind;
  }
}

}  // namespace
}  // namespace hummer::batch::merger_test
