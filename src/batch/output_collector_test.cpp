#include "batch/output_collector.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "batch/merger.hpp"
#include "batch/records_for_test.hpp"
#include "batch/segment_index.hpp"
#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::batch::output_collector_test {
namespace {

constexpr const char* spill_directory = "/spills";
constexpr const char* output = "/file.out";

// Records by partition.
using Partitions = std::map<std::uint32_t, KeysAndValues>;

struct Drawn {
  std::uint32_t partition;
  KeyAndValue record;
};

std::vector<Drawn> draw(Random& random, std::string_view kind, std::size_t count,
                        std::uint32_t partitions) {
  std::vector<Drawn> all;
  for (KeyAndValue& record : draw_records(random, kind, count)) {
    record.second.append(random.below(60), '.');
    all.push_back({static_cast<std::uint32_t>(random.below(partitions)), std::move(record)});
  }
  return all;
}

// What the collector has to give back.
Partitions model_of(const KeyOrder& order, const std::vector<Drawn>& drawn) {
  Partitions partitions;
  for (const Drawn& each : drawn) partitions[each.partition].push_back(each.record);
  for (auto& [partition, records] : partitions) sort_stably(order, records);
  return partitions;
}

std::unique_ptr<OutputCollector> make_collector(Platform& platform, CollectorOptions options) {
  options.spill_directory = spill_directory;
  auto collector = OutputCollector::create(platform, options);
  EXPECT_TRUE(collector.ok()) << collector.status().to_string();
  return std::move(*collector);
}

Status collect_all(OutputCollector& collector, const std::vector<Drawn>& drawn) {
  for (const Drawn& each : drawn) {
    HUMMER_TRY(collector.collect(each.partition, each.record.first, each.record.second));
  }
  return Status();
}

Status take_all(OutputCollector& collector, const KeyOrder& order, Partitions& into) {
  for (std::uint32_t partition = 0; partition < collector.partitions(); ++partition) {
    auto streams = collector.take(partition);
    if (!streams.ok()) return streams.status();
    if (streams->empty()) continue;
    Merger merger(order, std::move(*streams));
    HUMMER_TRY(read_all(merger, into[partition]));
  }
  return Status();
}

Status read_output(Platform& platform, const CollectorOptions& options, Partitions& into) {
  auto index_file = platform.files().open_for_reading(std::string(output) + ".index");
  if (!index_file.ok()) return index_file.status();
  auto index = read_segment_index(**index_file);
  if (!index.ok()) return index.status();
  EXPECT_EQ(index->places.size(), options.partitions);
  auto file = platform.files().open_for_reading(output);
  if (!file.ok()) return file.status();
  for (std::uint32_t partition = 0; partition < index->places.size(); ++partition) {
    SegmentReader reader(**file, index->places[partition], options.codec);
    KeysAndValues records;
    HUMMER_TRY(read_all(reader, records));
    if (!records.empty()) into[partition] = std::move(records);
  }
  return Status();
}

void expect_no_spills_left(Platform& platform) {
  const auto left = platform.files().list_directory(spill_directory);
  if (left.ok()) {
    EXPECT_TRUE(left->empty());
  }
}

// Both ways out give what a stable sort gives.
void expect_sorted(const CollectorOptions& options, const std::vector<Drawn>& drawn,
                   std::uint64_t least_spills) {
  const Partitions expected = model_of(options.order, drawn);
  auto node = make_simulated_platform({.seed = 1});
  for (const bool to_file : {false, true}) {
    auto collector = make_collector(*node, options);
    ASSERT_TRUE(collect_all(*collector, drawn).ok());
    Partitions sorted;
    if (to_file) {
      const Status finished = collector->finish_to_file(output);
      ASSERT_TRUE(finished.ok()) << finished.to_string();
      const Status read = read_output(*node, options, sorted);
      ASSERT_TRUE(read.ok()) << read.to_string();
    } else {
      ASSERT_TRUE(collector->finish().ok());
      const Status taken = take_all(*collector, options.order, sorted);
      ASSERT_TRUE(taken.ok()) << taken.to_string();
    }
    ASSERT_TRUE(sorted == expected) << to_file;
    const CollectorMetrics metrics = collector->metrics();
    EXPECT_EQ(metrics.records, drawn.size());
    std::uint64_t bytes = 0;
    for (const Drawn& each : drawn) bytes += each.record.first.size() + each.record.second.size();
    EXPECT_EQ(metrics.bytes, bytes);
    EXPECT_GE(metrics.spills, least_spills);
    EXPECT_EQ(metrics.spilled_bytes > 0, metrics.spills > 0);
    collector.reset();
    expect_no_spills_left(*node);
  }
}

TEST(OutputCollector, SortsInMemory) {
  Random random(1);
  for (const char* kind : drawn_kinds) {
    for (const std::uint32_t partitions : {1, 3, 1000}) {
      expect_sorted({.partitions = partitions, .memory_bytes = std::size_t{4} << 20},
                    draw(random, kind, 3'000, partitions), 0);
    }
  }
}

TEST(OutputCollector, SortsThroughSpills) {
  Random random(2);
  for (const char* kind : drawn_kinds) {
    for (const std::uint32_t partitions : {1, 3, 1000}) {
      expect_sorted({.partitions = partitions, .memory_bytes = OutputCollector::least_memory_bytes},
                    draw(random, kind, 4'000, partitions), 2);
    }
  }
}

TEST(OutputCollector, SortsManyPartitions) {
  Random random(3);
  constexpr std::uint32_t partitions = 100'000;
  expect_sorted({.partitions = partitions, .memory_bytes = std::size_t{32} << 20},
                draw(random, "random", 120'000, partitions), 1);
}

TEST(OutputCollector, MergesSpillsInPasses) {
  Random random(4);
  const std::vector<Drawn> drawn = draw(random, "few distinct", 60'000, 3);
  for (const std::size_t merge_factor : {2, 3, 4}) {
    // Its buffers are for four streams.
    const CollectorOptions options{.partitions = 3,
                                   .memory_bytes = 4 * OutputCollector::least_memory_bytes,
                                   .merge_factor = merge_factor};
    expect_sorted(options, drawn, 10);
    auto node = make_simulated_platform({.seed = 1});
    auto collector = make_collector(*node, options);
    ASSERT_TRUE(collect_all(*collector, drawn).ok());
    ASSERT_TRUE(collector->finish().ok());
    EXPECT_GT(collector->metrics().merges, 1U);
    EXPECT_LE(collector->take(0)->size(), merge_factor);
  }
}

// Three collectors as one, of which two share their memory: keys are in order, and those that came
// to one collector are as a stable sort leaves them.
void expect_sorted_together(const CollectorOptions& options, const std::vector<Drawn>& drawn) {
  auto node = make_simulated_platform({.seed = 1});
  const auto pages = std::make_shared<ZeroedPages>(2 * options.memory_bytes);
  std::vector<std::unique_ptr<OutputCollector>> collectors;
  std::vector<OutputCollector*> all;
  std::vector<std::vector<Drawn>> shares(3);
  for (std::size_t i = 0; i < drawn.size(); ++i) shares[i * 7 / 5 % 3].push_back(drawn[i]);
  std::map<std::string, std::size_t> owners;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CollectorOptions own = options;
    if (i < 2) own.memory = {pages, i * options.memory_bytes};
    collectors.push_back(make_collector(*node, own));
    all.push_back(collectors.back().get());
    ASSERT_TRUE(collect_all(*all.back(), shares[i]).ok());
    ASSERT_TRUE(all.back()->finish().ok());
    for (const Drawn& each : shares[i]) owners[each.record.second] = i;
  }
  std::vector<Partitions> expected;
  for (const auto& share : shares) expected.push_back(model_of(options.order, share));
  for (std::uint32_t partition = 0; partition < options.partitions; ++partition) {
    auto streams = take_of_all(all, partition);
    ASSERT_TRUE(streams.ok()) << streams.status().to_string();
    Merger merger(options.order, std::move(*streams));
    KeysAndValues sorted;
    ASSERT_TRUE(read_all(merger, sorted).ok());
    std::vector<KeysAndValues> by_owner(shares.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const std::string& before = sorted[i == 0 ? 0 : i - 1].first;
      ASSERT_LE(options.order.compare(before, sorted[i].first), 0);
      by_owner[owners.at(sorted[i].second)].push_back(sorted[i]);
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      ASSERT_TRUE(by_owner[i] == expected[i][partition]) << partition << " of collector " << i;
    }
  }
}

TEST(OutputCollector, SortsWhatSeveralHaveInSharedMemoryAsOne) {
  Random random(11);
  for (const char* kind : drawn_kinds) {
    for (const std::size_t memory_bytes : {std::size_t{2} << 20, std::size_t{72} << 10}) {
      expect_sorted_together({.partitions = 5, .memory_bytes = memory_bytes},
                             draw(random, kind, 6'000, 5));
    }
  }
}

TEST(OutputCollector, SharesMemoryAmongSeveralWithoutOrAFewRecords) {
  Random random(12);
  for (const std::size_t count : {0, 1, 2, 7}) {
    expect_sorted_together({.partitions = 3, .memory_bytes = std::size_t{64} << 10},
                           draw(random, "random", count, 3));
  }
}

// The second one's part of the memory begins amid a page.
TEST(OutputCollector, GivesItsOwnPartOfSharedMemoryBack) {
  Random random(13);
  std::vector<Drawn> drawn = draw(random, "random", 600, 2);
  for (Drawn& each : drawn) each.record.second.append(60'000, '.');
  expect_sorted_together({.partitions = 2, .memory_bytes = (std::size_t{3} << 20) + 8}, drawn);
}

TEST(OutputCollector, SortsByOrderAndCodec) {
  Random random(5);
  for (const char* order : {"text", "long", "counted"}) {
    for (const Codec codec : {Codec::none, Codec::snappy, Codec::lz4, Codec::gzip, Codec::zstd}) {
      expect_sorted({.partitions = 5,
                     .memory_bytes = OutputCollector::least_memory_bytes,
                     .order = *key_order_of(order),
                     .codec = codec},
                    draw(random, "eight bytes", 2'000, 5), 1);
    }
  }
}

TEST(OutputCollector, MayBeEmpty) {
  for (const std::uint32_t partitions : {1, 7, 100'000}) {
    expect_sorted({.partitions = partitions}, {}, 0);
  }
}

TEST(OutputCollector, LeavesPartitionsEmpty) {
  Random random(6);
  std::vector<Drawn> drawn = draw(random, "random", 5'000, 1);
  for (Drawn& each : drawn) each.partition = 4;
  expect_sorted({.partitions = 9, .memory_bytes = OutputCollector::least_memory_bytes}, drawn, 2);
}

TEST(OutputCollector, TakesRecordsLargerThanAPiece) {
  Random random(7);
  std::vector<Drawn> drawn = draw(random, "random", 2'000, 20);
  for (std::size_t i = 0; i < drawn.size(); i += 10) {
    (i % 20 == 0 ? drawn[i].record.first : drawn[i].record.second)
        .append(random.below(20'000), 'x');
  }
  expect_sorted({.partitions = 20, .memory_bytes = OutputCollector::least_memory_bytes}, drawn, 5);
}

TEST(OutputCollector, ReadsNoMoreLargeRecordsAtOnceThanItHasRoomFor) {
  Random random(8);
  constexpr std::size_t memory_bytes = std::size_t{4} << 20;
  constexpr std::size_t largest_bytes = 300'000;
  std::vector<Drawn> drawn = draw(random, "few distinct", 250, 2);
  for (Drawn& each : drawn) {
    each.record.second.append(largest_bytes / 2 + random.below(largest_bytes / 3), 'x');
  }
  for (const std::size_t takes : {1, 2, 3}) {
    const CollectorOptions options{
        .partitions = 2, .memory_bytes = memory_bytes, .takes_at_once = takes};
    expect_sorted(options, drawn, 10);
    auto node = make_simulated_platform({.seed = 1});
    auto collector = make_collector(*node, options);
    ASSERT_TRUE(collect_all(*collector, drawn).ok());
    ASSERT_TRUE(collector->finish().ok());
    EXPECT_LE(collector->take(0)->size() * largest_bytes / 2 * takes, memory_bytes);
    EXPECT_GE(collector->metrics().spilled_records, drawn.size()) << "some are still in memory";
  }
}

TEST(OutputCollector, RefusesARecordThatItHasNoRoomFor) {
  auto node = make_simulated_platform({.seed = 1});
  auto collector = make_collector(*node, {.memory_bytes = OutputCollector::least_memory_bytes});
  ASSERT_TRUE(collector->collect(0, "key", "value").ok());
  const Status status = collector->collect(0, "key", std::string(100'000, 'x'));
  EXPECT_EQ(status.code(), ErrorCode::limit_exceeded);
  EXPECT_NE(status.message().find("100000 bytes"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("memory_bytes"), std::string::npos) << status.message();
  // Nothing of it is there, and what was there is.
  ASSERT_TRUE(collector->collect(0, "key", std::string(40'000, 'x')).ok());
  ASSERT_TRUE(collector->finish().ok());
  Partitions sorted;
  ASSERT_TRUE(take_all(*collector, KeyOrder(), sorted).ok());
  EXPECT_EQ(sorted[0].size(), 2U);
}

TEST(OutputCollector, RefusesAPartitionThatIsNotThere) {
  auto node = make_simulated_platform({.seed = 1});
  auto collector = make_collector(*node, {.partitions = 3});
  EXPECT_EQ(collector->collect(3, "key", "value").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(collector->collect(~0U, "key", "value").code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(collector->collect(2, "key", "value").ok());
}

TEST(OutputCollector, RefusesOptionsThatCannotBe) {
  auto node = make_simulated_platform({.seed = 1});
  for (const CollectorOptions& options :
       {CollectorOptions{.partitions = 0, .spill_directory = spill_directory},
        CollectorOptions{.memory_bytes = 1000, .spill_directory = spill_directory},
        CollectorOptions{.spill_directory = ""},
        CollectorOptions{.spill_directory = spill_directory, .merge_factor = 1},
        CollectorOptions{.spill_directory = spill_directory, .takes_at_once = 0}}) {
    EXPECT_EQ(OutputCollector::create(*node, options).status().code(), ErrorCode::invalid_argument);
  }
}

TEST(OutputCollector, HandsOverToThreadsFromARealDisk) {
  Random random(12);
  constexpr std::uint32_t partitions = 16;
  const TemporaryFolder folder;
  const std::vector<Drawn> drawn = draw(random, "random", 20'000, partitions);
  Partitions expected = model_of(KeyOrder(), drawn);
  auto platform = make_linux_platform();
  auto collector =
      OutputCollector::create(*platform, {.partitions = partitions,
                                          .memory_bytes = std::size_t{256} << 10,
                                          .spill_directory = folder.path() + "/spills"});
  ASSERT_TRUE(collector.ok());
  ASSERT_TRUE(collect_all(**collector, drawn).ok());
  ASSERT_TRUE((*collector)->finish().ok());
  EXPECT_GT((*collector)->metrics().spills, 3U);
  std::vector<KeysAndValues> sorted(partitions);
  std::vector<std::thread> reducers;
  for (std::uint32_t reducer = 0; reducer < 2; ++reducer) {
    reducers.emplace_back([&, reducer] {
      for (std::uint32_t partition = reducer; partition < partitions; partition += 2) {
        auto streams = (*collector)->take(partition);
        ASSERT_TRUE(streams.ok());
        Merger merger(KeyOrder(), std::move(*streams));
        ASSERT_TRUE(read_all(merger, sorted[partition]).ok());
      }
    });
  }
  for (std::thread& reducer : reducers) reducer.join();
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    EXPECT_TRUE(sorted[partition] == expected[partition]) << partition;
  }
  // Nobody finds them by a name, also while they are there.
  EXPECT_TRUE(platform->files().list_directory(folder.path() + "/spills")->empty());
}

// Adds up values that are numbers of 8 bytes.
class Sum final : public Combiner {
 public:
  Status combine(GroupReader& group, RecordBuffer& out) override {
    ++calls;
    std::uint64_t sum = 0;
    while (group.next_value()) {
      std::uint64_t number;
      std::memcpy(&number, group.value().data(), sizeof number);
      sum += number;
    }
    if (fails) return Status(ErrorCode::user_function_failed, "no sums today");
    out.add(group.key(), {reinterpret_cast<const char*>(&sum), sizeof sum});
    return Status();
  }
  std::uint64_t calls = 0;
  bool fails = false;
};

std::map<std::string, std::uint64_t> sums_of(const KeysAndValues& records) {
  std::map<std::string, std::uint64_t> sums;
  for (const auto& [key, value] : records) {
    std::uint64_t number;
    std::memcpy(&number, value.data(), sizeof number);
    sums[key] += number;
  }
  return sums;
}

std::vector<Drawn> draw_numbers(Random& random, std::size_t count, std::uint32_t partitions) {
  std::vector<Drawn> drawn;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = random.below(1000);
    drawn.push_back({static_cast<std::uint32_t>(random.below(partitions)),
                     {"key " + std::to_string(random.below(50)),
                      std::string(reinterpret_cast<const char*>(&number), sizeof number)}});
  }
  return drawn;
}

TEST(OutputCollector, GivesTheSameWithACombiner) {
  Random random(8);
  auto node = make_simulated_platform({.seed = 1});
  for (const std::size_t memory_bytes :
       {OutputCollector::least_memory_bytes, std::size_t{8} << 20}) {
    for (const bool to_file : {false, true}) {
      const std::vector<Drawn> drawn = draw_numbers(random, 20'000, 4);
      Sum sum;
      const CollectorOptions options{
          .partitions = 4, .memory_bytes = memory_bytes, .combiner = &sum};
      auto collector = make_collector(*node, options);
      ASSERT_TRUE(collect_all(*collector, drawn).ok());
      Partitions result;
      if (to_file) {
        ASSERT_TRUE(collector->finish_to_file(output).ok());
        ASSERT_TRUE(read_output(*node, options, result).ok());
      } else {
        ASSERT_TRUE(collector->finish().ok());
        ASSERT_TRUE(take_all(*collector, KeyOrder(), result).ok());
      }
      for (const auto& [partition, records] : model_of(KeyOrder(), drawn)) {
        EXPECT_TRUE(sums_of(result[partition]) == sums_of(records));
        EXPECT_TRUE(std::is_sorted(result[partition].begin(), result[partition].end(),
                                   [](const auto& a, const auto& b) { return a.first < b.first; }));
        if (to_file && collector->metrics().spills == 0) {
          EXPECT_EQ(result[partition].size(), sums_of(records).size());
        }
      }
      if (to_file || collector->metrics().spills > 0) {
        EXPECT_GT(sum.calls, 0U);
      }
      if (collector->metrics().spills > 0) {
        EXPECT_LT(collector->metrics().spilled_records, drawn.size());  // merges count, too
      }
    }
  }
}

TEST(OutputCollector, PassesAFailureOfTheCombinerOn) {
  Random random(9);
  auto node = make_simulated_platform({.seed = 1});
  Sum sum;
  sum.fails = true;
  auto collector = make_collector(
      *node, {.memory_bytes = OutputCollector::least_memory_bytes, .combiner = &sum});
  EXPECT_EQ(collect_all(*collector, draw_numbers(random, 20'000, 1)).code(),
            ErrorCode::user_function_failed);
  collector.reset();
  expect_no_spills_left(*node);
}

TEST(OutputCollector, TellsThatTheDiskIsFull) {
  Random random(10);
  const std::vector<Drawn> drawn = draw(random, "random", 10'000, 3);
  std::set<ErrorCode> codes;
  for (const std::uint64_t capacity : {1'000, 100'000, 400'000, 900'000, 10'000'000}) {
    auto node = make_simulated_platform({.seed = 1, .disk_capacity_bytes = capacity});
    auto collector = make_collector(
        *node, {.partitions = 3, .memory_bytes = OutputCollector::least_memory_bytes});
    Status status = collect_all(*collector, drawn);
    if (status.ok()) status = collector->finish_to_file(output);
    codes.insert(status.code());
    if (!status.ok()) {
      EXPECT_EQ(node->files().stat(output).status().code(), ErrorCode::not_found);
    }
    collector.reset();
    expect_no_spills_left(*node);
  }
  EXPECT_TRUE(codes == (std::set<ErrorCode>{ErrorCode::ok, ErrorCode::disk_full}));
}

// Whatever operation of the disk fails: the failure is told, and what is told to be well is well.
TEST(OutputCollector, TellsFailuresOfTheDisk) {
  Random random(11);
  const std::vector<Drawn> drawn = draw(random, "random", 5'000, 3);
  const Partitions expected = model_of(KeyOrder(), drawn);
  std::size_t failed = 0;
  std::size_t went_well = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    auto node = make_simulated_platform({.seed = seed,
                                         .read_fault_rate = seed % 2 == 0 ? 0.01 : 0,
                                         .write_fault_rate = seed % 3 == 0 ? 0.02 : 0,
                                         .name_fault_rate = seed % 5 == 0 ? 0.02 : 0});
    CollectorOptions options{.partitions = 3, .memory_bytes = OutputCollector::least_memory_bytes};
    auto collector = make_collector(*node, options);
    Status status = collect_all(*collector, drawn);
    if (status.ok()) status = collector->finish_to_file(output);
    collector.reset();
    node->simulation().options().read_fault_rate = 0;
    if (status.ok()) {
      ++went_well;
      Partitions sorted;
      ASSERT_TRUE(read_output(*node, options, sorted).ok());
      EXPECT_TRUE(sorted == expected);
    } else {
      ++failed;
      EXPECT_EQ(status.code(), ErrorCode::io_error) << status.to_string();
    }
  }
  EXPECT_GT(failed, 5U);
  EXPECT_GT(went_well, 5U);
}

}  // namespace
}  // namespace hummer::batch::output_collector_test
