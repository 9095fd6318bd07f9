// What follow_files and write_files are made of, under every awkward schedule of the harness.
#include <algorithm>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "connectors/connector_test_context.hpp"
#include "connectors/file_store/file_unit.hpp"
#include "connectors/file_store/local_file_store.hpp"

namespace hummer::file_store_harness_test {
namespace {

class FileStoreUnderTheHarness : public testing::Test {
 protected:
  FileUnit unit(const std::string& path, std::uint64_t begin, std::uint64_t end) {
    const Result<StoredFile> file = LocalFileStore(platform_->files()).look_at(path);
    EXPECT_TRUE(file.ok());
    return {path, file->size_bytes, file->modified_ms, file->version, begin, end};
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
};

TEST_F(FileStoreUnderTheHarness, DiscoveryGivesEachUnitOnce) {
  put_file(*platform_, "/in/a", "one\ntwo\nthree\n");
  put_file(*platform_, "/in/b", "four\n");
  put_file(*platform_, "/in/c", "");
  put_file(*platform_, "/in/_END", "");
  FollowOptions options{.order = FileOrder::name, .settle_ms = 0, .end_marker = "_END"};
  options.file.split_size_bytes = 6;
  SourceHarness harness(make_file_discovery("/in", options));
  harness.options().place.platform = platform_.get();
  harness.output<FileUnit>().records(
      {unit("/in/a", 0, 6), unit("/in/a", 6, 12), unit("/in/a", 12, 14), unit("/in/b", 0, 5)});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST_F(FileStoreUnderTheHarness, ReadersGiveEachLineOnce) {
  const std::string path_a = "/in/a", path_b = "/in/b";
  const std::string_view a = "one\ntwo\nthree\nfour", b = "five\n";
  put_file(*platform_, path_a, a);
  put_file(*platform_, path_b, b);
  FollowOptions options;
  options.file.block_size_bytes = 1;
  OperatorHarness<FileUnit> harness(make_unit_reader(options));
  harness.options().place.platform = platform_.get();
  harness.options().element_nanoseconds = 10;
  harness.record(unit(path_a, 0, 5)).record(unit(path_a, 5, 18)).idle().record(unit(path_b, 0, 5));
  std::vector<TextBlock> lines;
  for (const auto& [at, size] : {std::pair{0, 4}, {4, 4}, {8, 6}, {14, 4}}) {
    lines.push_back(
        {a.data() + at, static_cast<std::size_t>(size), static_cast<std::uint64_t>(at), &path_a});
  }
  lines.push_back({b.data(), b.size(), 0, &path_b});
  harness.output<TextBlock>().records(lines);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Lines of all files, whether they are visible yet; of one that was saved, what counts of it.
std::vector<std::string> lines_below(SimulatedPlatform& platform, const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& [path, text] : platform.files_below(directory)) {
    std::string name(path.substr(path.rfind('/') + 1));
    if (!name.starts_with("part-")) continue;
    const bool is_whole = name.ends_with(".whole");
    name.resize(name.rfind('.'));
    if (is_whole || !files.contains(name)) files[name] = text;
  }
  std::vector<std::string> lines;
  for (const auto& [name, text] : files) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_F(FileStoreUnderTheHarness, TheSinkWritesEachLineOnce) {
  const auto remainder = [](int number) { return "rest=" + std::to_string(number % 3); };
  OperatorHarness<int> harness(make_operator_factory([remainder] {
    return std::make_unique<RollingSinkOperator<int, decltype(remainder), AppendLine>>(
        "/out", RollOptions{.roll_records = 2, .max_open_partitions = 2}, true, remainder,
        AppendLine());
  }));
  harness.options().state_only_by_flush = true;
  harness.options().place.platform = platform_.get();
  harness.record(1).record(2).watermark(5).record(3).idle().record(4).record(5).record(7);
  harness.effects(
      [&] {
        for (const auto& [path, text] : platform_->files_below("/out")) {
          (void)platform_->files().remove("/out/" + std::string(path));
        }
      },
      [&] { return lines_below(*platform_, "/out"); }, {"1", "2", "3", "4", "5", "7"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::file_store_harness_test
