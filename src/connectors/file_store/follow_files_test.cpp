// The source of follow_files, by hand: discovery, its state, and the readers behind it.
#include <algorithm>
#include <deque>

#include <gtest/gtest.h>

#include "connectors/file/file_reader_for_test.hpp"
#include "connectors/file_store/file_discovery.hpp"
#include "connectors/file_store/local_file_store.hpp"
#include "connectors/file_store/read_units.hpp"

namespace hummer::follow_files_test {
namespace {

using Names = std::vector<std::string>;

// An operator with its context and output.
template <typename Op>
struct Stage {
  template <typename... Arguments>
  explicit Stage(Platform& platform, Arguments&&... arguments)
      : context(platform), op(std::forward<Arguments>(arguments)...) {
    op.set_context(context);
    op.declare(out);
  }
  Status restore(const std::string& state) {
    ByteReader in(state);
    return op.restore(in);
  }
  std::string snapshot() {
    std::string bytes;
    ByteWriter writer(bytes);
    EXPECT_TRUE(op.snapshot(writer).ok());
    return std::string(writer.view());
  }
  ConnectorTestContext context;
  Output out{1};
  Op op;
};

class FollowFilesTest : public testing::Test {
 protected:
  FollowFilesTest() { EXPECT_TRUE(platform_->files().create_directories("/in").ok()); }

  void wait_ms(std::int64_t ms) { platform_->simulation().charge(ms * 1'000'000, ms * 1'000'000); }
  // What it gives until it has nothing; "path begin-end".
  Names units(Stage<FileDiscovery>& stage) {
    Names given;
    for (;;) {
      const OperatorResult answer = stage.op.produce(stage.out);
      for (const FileUnit& unit : stage.out.batch().values<FileUnit>()) {
        given.push_back(unit.path + " " + std::to_string(unit.begin) + "-" +
                        std::to_string(unit.end));
      }
      stage.out.batch().clear();
      last_ = answer;
      if (answer != OperatorResult::more) return given;
    }
  }
  // Two looks, so that what is there settles.
  Names when_stable(Stage<FileDiscovery>& stage) {
    wait_ms(options_.discovery_interval_ms);
    Names given = units(stage);
    wait_ms(options_.settle_ms + options_.discovery_interval_ms);
    for (std::string& unit : units(stage)) given.push_back(std::move(unit));
    return given;
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
  FollowOptions options_{.discovery_interval_ms = 10, .settle_ms = 50};
  OperatorResult last_ = OperatorResult::more;
};

TEST_F(FollowFilesTest, TakesEachFileOnceWhenItHasSettled) {
  put_file(*platform_, "/in/a", "123");
  Stage<FileDiscovery> stage(*platform_, "/in", options_);
  ASSERT_TRUE(stage.op.open().ok());
  EXPECT_EQ(units(stage), Names{});
  wait_ms(30);
  EXPECT_EQ(units(stage), Names{});
  put_file(*platform_, "/in/a", "12345");  // it is still written to
  wait_ms(30);
  EXPECT_EQ(units(stage), Names{});
  wait_ms(60);
  EXPECT_EQ(units(stage), Names{"/in/a 0-5"});
  wait_ms(60);
  EXPECT_EQ(units(stage), Names{});
  put_file(*platform_, "/in/b", "1");
  EXPECT_EQ(when_stable(stage), Names{"/in/b 0-1"});
  EXPECT_EQ(last_, OperatorResult::blocked);
}

TEST_F(FollowFilesTest, TakesFilesByTimeOrByName) {
  const auto begin = platform_->wall_time_ms();
  put_file(*platform_, "/in/c", "1");
  put_file(*platform_, "/in/a", "2");
  put_file(*platform_, "/in/b", "3");
  platform_->set_modified("/in/c", begin - 100);
  platform_->set_modified("/in/a", begin - 50);
  platform_->set_modified("/in/b", begin - 50);
  options_.settle_ms = 0;
  Stage<FileDiscovery> by_time(*platform_, "/in", options_);
  ASSERT_TRUE(by_time.op.open().ok());
  EXPECT_EQ(units(by_time), (Names{"/in/c 0-1", "/in/a 0-1", "/in/b 0-1"}));
  options_.order = FileOrder::name;
  options_.modified_since_ms = begin - 60;
  Stage<FileDiscovery> by_name(*platform_, "/in", options_);
  ASSERT_TRUE(by_name.op.open().ok());
  EXPECT_EQ(units(by_name), (Names{"/in/a 0-1", "/in/b 0-1"}));
}

TEST_F(FollowFilesTest, LeavesAloneWhatIsUnfinishedHiddenOrNoMatch) {
  for (const char* name :
       {"a.csv", "b.tmp", "c.inprogress", ".d.csv", "_e.csv", "f.txt", "g/h.csv", "csv"}) {
    put_file(*platform_, "/in/" + std::string(name), "1");
  }
  options_.settle_ms = 0;
  options_.order = FileOrder::name;
  const auto found = [&](const std::string& path) {
    Stage<FileDiscovery> stage(*platform_, path, options_);
    EXPECT_TRUE(stage.op.open().ok());
    return units(stage);
  };
  EXPECT_EQ(found("/in/"),
            (Names{"/in/a.csv 0-1", "/in/csv 0-1", "/in/f.txt 0-1", "/in/g/h.csv 0-1"}));
  EXPECT_EQ(found("/in/*.csv"), Names{"/in/a.csv 0-1"});
  EXPECT_EQ(found("/in/*/h*"), Names{"/in/g/h.csv 0-1"});
  EXPECT_EQ(found("/i?/g"), Names{"/in/g/h.csv 0-1"});
  EXPECT_EQ(found("/in/nothing*"), Names{});
}

TEST_F(FollowFilesTest, CutsLargePlainFilesAndNoOthers) {
  put_file(*platform_, "/in/1", "0123456789");
  put_file(*platform_, "/in/2", gzip("0123456789 and some more of it"));
  put_file(*platform_, "/in/3", "");
  options_.settle_ms = 0;
  options_.order = FileOrder::name;
  options_.file.split_size_bytes = 4;
  Stage<FileDiscovery> stage(*platform_, "/in", options_);
  ASSERT_TRUE(stage.op.open().ok());
  const Names given = units(stage);
  ASSERT_EQ(given.size(), 4u);
  EXPECT_EQ(Names(given.begin(), given.begin() + 3),
            (Names{"/in/1 0-4", "/in/1 4-8", "/in/1 8-10"}));
  EXPECT_TRUE(given[3].starts_with("/in/2 0-"));
}

TEST_F(FollowFilesTest, AFileThatChangesBehindFailsOrIsLeftOut) {
  for (const FileTrouble trouble : {FileTrouble::fail, FileTrouble::leave_out}) {
    put_file(*platform_, "/in/a", "123");
    options_.changed = trouble;
    Stage<FileDiscovery> stage(*platform_, "/in", options_);
    ASSERT_TRUE(stage.op.open().ok());
    EXPECT_EQ(when_stable(stage), Names{"/in/a 0-3"});
    put_file(*platform_, "/in/a", "1234");
    wait_ms(20);
    EXPECT_EQ(units(stage), Names{});
    if (trouble == FileTrouble::fail) {
      EXPECT_EQ(last_, OperatorResult::failed);
      EXPECT_EQ(stage.context.failure().code(), ErrorCode::file_changed);
      EXPECT_NE(stage.context.failure().message().find("'/in/a'"), std::string::npos);
      continue;
    }
    EXPECT_EQ(last_, OperatorResult::blocked);
    EXPECT_NE(platform_->standard(2).find("'/in/a'"), std::string::npos);
    wait_ms(100);
    EXPECT_EQ(units(stage), Names{});
    EXPECT_EQ(std::count(platform_->standard(2).begin(), platform_->standard(2).end(), '\n'), 1);
  }
}

TEST_F(FollowFilesTest, EndsWithTheMarkerBehindWhatIsThereThen) {
  options_.end_marker = "_END";
  Stage<FileDiscovery> stage(*platform_, "/in", options_);
  ASSERT_TRUE(stage.op.open().ok());
  EXPECT_EQ(units(stage), Names{});
  put_file(*platform_, "/in/a", "1");
  put_file(*platform_, "/in/_END", "");
  wait_ms(20);
  EXPECT_EQ(units(stage), Names{});
  EXPECT_EQ(last_, OperatorResult::blocked);
  wait_ms(60);
  EXPECT_EQ(units(stage), Names{"/in/a 0-1"});
  EXPECT_EQ(last_, OperatorResult::done);
}

TEST_F(FollowFilesTest, AMissingOrEmptiedDirectoryIsNamed) {
  Stage<FileDiscovery> missing(*platform_, "/missing", options_);
  ASSERT_TRUE(missing.op.open().ok());
  (void)units(missing);
  EXPECT_EQ(last_, OperatorResult::failed);
  EXPECT_EQ(missing.context.failure().code(), ErrorCode::not_found);
  EXPECT_NE(missing.context.failure().message().find("'/missing'"), std::string::npos);

  put_file(*platform_, "/in/a", "1");
  Stage<FileDiscovery> before(*platform_, "/in", options_);
  ASSERT_TRUE(before.op.open().ok());
  EXPECT_EQ(when_stable(before), Names{"/in/a 0-1"});
  // Another machine, where nothing is.
  const auto elsewhere = make_simulated_platform({});
  ASSERT_TRUE(elsewhere->files().create_directories("/in").ok());
  for (const FileTrouble trouble : {FileTrouble::fail, FileTrouble::leave_out}) {
    options_.removed = trouble;
    Stage<FileDiscovery> after(*elsewhere, "/in", options_);
    ASSERT_TRUE(after.restore(before.snapshot()).ok());
    ASSERT_TRUE(after.op.open().ok());
    (void)units(after);
    const bool fails = trouble == FileTrouble::fail;
    EXPECT_EQ(last_, fails ? OperatorResult::failed : OperatorResult::blocked);
    EXPECT_EQ(after.context.failure().code(), fails ? ErrorCode::not_found : ErrorCode::ok);
  }
  // And of another directory.
  Stage<FileDiscovery> other(*platform_, "/other", options_);
  EXPECT_EQ(other.restore(before.snapshot()).code(), ErrorCode::invalid_configuration);
}

TEST(SeenFiles, ForgetsTheFirstAndKnowsThemAllTheSame) {
  for (const FileOrder order : {FileOrder::time, FileOrder::name}) {
    SeenFiles seen(order, 100);
    const auto file = [](int i) {
      char name[16];
      std::snprintf(name, sizeof name, "%05d", i);
      return StoredFile{name, static_cast<std::uint64_t>(i), 1000 + i, {}};
    };
    std::string whole;
    Names deltas;
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(seen.find(file(i)), SeenFiles::State::unknown);
      seen.add(file(i));
      EXPECT_EQ(seen.find(file(i)), SeenFiles::State::taken);
      EXPECT_LE(seen.size(), 100u);
      if (i == 500 || i == 600 || i == 950) {
        std::string bytes;
        ByteWriter out(bytes);
        seen.snapshot(i > 500 && seen.can_be_delta(), out);
        deltas.emplace_back(out.view());
      }
    }
    // As it was at 950.
    SeenFiles restored(order, 100);
    for (const std::string& piece : deltas) {
      ByteReader in(piece);
      ASSERT_TRUE(restored.restore(in));
      EXPECT_EQ(in.left(), 0u);
    }
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(seen.find(file(i)), SeenFiles::State::taken) << i;
      EXPECT_EQ(restored.find(file(i)),
                i <= 950 ? SeenFiles::State::taken : SeenFiles::State::unknown)
          << i;
    }
    StoredFile changed = file(999);
    changed.size_bytes = 5;
    EXPECT_EQ(seen.find(changed), SeenFiles::State::changed);
  }
}

// ---- readers ----

FileUnit unit_of(Platform& platform, const std::string& path, std::uint64_t begin = 0,
                 std::uint64_t end = UINT64_MAX) {
  const Result<StoredFile> file = LocalFileStore(platform.files()).look_at(path);
  EXPECT_TRUE(file.ok()) << file.status().to_string();
  return {path,
          file->size_bytes,
          file->modified_ms,
          file->version,
          begin,
          std::min(end, file->size_bytes)};
}

class UnitsTest : public testing::Test {
 protected:
  UnitsTest() { options_.file.block_size_bytes = 16; }

  using Reader = Stage<ReadUnitsOperator>;

  OperatorResult hand(Reader& stage, const FileUnit& unit) {
    Batch batch(type_of<FileUnit>(), 1);
    Output in(1);
    in.add_port(type_of<FileUnit>());
    in.collector<FileUnit>()(unit);
    return stage.op.process(in.batch(), stage.out);
  }
  OperatorResult step(Reader& stage, std::string& text, bool end = false) {
    const OperatorResult answer = end ? stage.op.end(stage.out) : stage.op.timer(0, stage.out);
    for (const TextBlock& block : stage.out.batch().values<TextBlock>()) text += block.view();
    stage.out.batch().clear();
    return answer;
  }
  std::string rest(Reader& stage) {
    std::string text;
    while (step(stage, text, true) == OperatorResult::more) continue;
    return text;
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
  FollowOptions options_;
};

TEST_F(UnitsTest, EveryLineIsInOneUnitAndAReaderGoesOnAnywhere) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += std::string(i * 7 % 13, 'a' + i % 26) + "\n";
  text += "end";
  put_file(*platform_, "/in/plain", text);
  put_file(*platform_, "/in/gzip", gzip(text));
  put_file(*platform_, "/in/zstd", zstd(text));
  for (const char* path : {"/in/plain", "/in/gzip", "/in/zstd"}) {
    const bool is_plain = std::string_view(path) == "/in/plain";
    for (const std::uint64_t split : {std::uint64_t{7}, std::uint64_t{50}, UINT64_MAX}) {
      std::deque<FileUnit> units;
      const FileUnit whole = unit_of(*platform_, path);
      const std::uint64_t step_bytes = is_plain ? std::min(split, whole.end) : whole.end;
      for (std::uint64_t at = 0; at < whole.end; at += step_bytes) {
        units.push_back(unit_of(*platform_, path, at, at + step_bytes));
      }
      for (int steps = 0; steps < 40; ++steps) {
        Reader first(*platform_, options_);
        ASSERT_TRUE(first.op.open().ok());
        for (const FileUnit& unit : units) ASSERT_EQ(hand(first, unit), OperatorResult::done);
        std::string seen;
        for (int i = 0; i < steps; ++i) (void)step(first, seen);
        Reader second(*platform_, options_);
        ASSERT_TRUE(second.restore(first.snapshot()).ok());
        ASSERT_TRUE(second.op.open().ok());
        seen += rest(second);
        ASSERT_EQ(seen, text) << path << " " << split << " " << steps;
      }
      if (!is_plain) break;
    }
  }
}

TEST_F(UnitsTest, EachUnitBeginsWithTheHeadWhereItIsAskedFor) {
  put_file(*platform_, "/in/a", "head\n1\n2\n3\n4\n");
  options_.file.repeat_first_line = true;
  options_.file.block_size_bytes = 1;
  Reader reader(*platform_, options_);
  ASSERT_TRUE(reader.op.open().ok());
  ASSERT_EQ(hand(reader, unit_of(*platform_, "/in/a", 0, 7)), OperatorResult::done);
  ASSERT_EQ(hand(reader, unit_of(*platform_, "/in/a", 7, 13)), OperatorResult::done);
  std::string text;
  for (int i = 0; i < 4; ++i) (void)step(reader, text);
  EXPECT_EQ(text, "head\n1\nhead\n2\n");
  Reader restored(*platform_, options_);
  ASSERT_TRUE(restored.restore(reader.snapshot()).ok());
  ASSERT_TRUE(restored.op.open().ok());
  EXPECT_EQ(rest(restored), "head\n3\n4\n");
}

TEST_F(UnitsTest, AFileThatIsGoneOrAnotherFailsOrIsLeftOut) {
  for (const bool gone : {false, true}) {
    for (const FileTrouble trouble : {FileTrouble::fail, FileTrouble::leave_out}) {
      put_file(*platform_, "/in/a", "first of a\n");
      put_file(*platform_, "/in/b", "b\n");
      options_.changed = gone ? FileTrouble::fail : trouble;
      options_.removed = gone ? trouble : FileTrouble::fail;
      Reader reader(*platform_, options_);
      ASSERT_TRUE(reader.op.open().ok());
      ASSERT_EQ(hand(reader, unit_of(*platform_, "/in/a")), OperatorResult::done);
      ASSERT_EQ(hand(reader, unit_of(*platform_, "/in/b")), OperatorResult::done);
      if (gone) {
        ASSERT_TRUE(platform_->files().remove("/in/a").ok());
      } else {
        put_file(*platform_, "/in/a", "other one\n");
      }
      std::string text;
      const OperatorResult answer = step(reader, text);
      if (trouble == FileTrouble::fail) {
        EXPECT_EQ(answer, OperatorResult::failed);
        EXPECT_EQ(reader.context.failure().code(),
                  gone ? ErrorCode::not_found : ErrorCode::file_changed);
        EXPECT_NE(reader.context.failure().message().find("/in/a"), std::string::npos);
      } else {
        EXPECT_EQ(text + rest(reader), "b\n");
        EXPECT_NE(platform_->standard(2).find("/in/a"), std::string::npos);
      }
    }
  }
}

TEST_F(UnitsTest, AFileThatGrowsWhileItIsReadIsNamedAndOneThatIsRemovedIsRead) {
  for (const bool removed : {false, true}) {
    put_file(*platform_, "/in/a", std::string(100, '\n'));
    Reader reader(*platform_, options_);
    ASSERT_TRUE(reader.op.open().ok());
    ASSERT_EQ(hand(reader, unit_of(*platform_, "/in/a")), OperatorResult::done);
    std::string text;
    ASSERT_EQ(step(reader, text), OperatorResult::done);
    if (removed) {
      ASSERT_TRUE(platform_->files().remove("/in/a").ok());
      EXPECT_EQ(text + rest(reader), std::string(100, '\n'));
      continue;
    }
    auto file = platform_->files().open_for_writing("/in/a", WriteMode::append);
    ASSERT_TRUE((*file)->append("x").ok());
    OperatorResult answer = OperatorResult::more;
    while (answer == OperatorResult::more) answer = step(reader, text, true);
    EXPECT_EQ(answer, OperatorResult::failed);
    EXPECT_EQ(reader.context.failure().code(), ErrorCode::file_changed);
  }
}

TEST_F(UnitsTest, MuchThatWaitsIsReadBeforeMoreIsTaken) {
  put_file(*platform_, "/in/a", "line\n");
  const FileUnit unit = unit_of(*platform_, "/in/a");
  Reader reader(*platform_, options_);
  ASSERT_TRUE(reader.op.open().ok());
  for (std::size_t i = 0; i < ReadUnitsOperator::most_waiting; ++i) {
    ASSERT_EQ(hand(reader, unit), OperatorResult::done);
  }
  EXPECT_EQ(reader.out.size(), 0u);
  EXPECT_EQ(hand(reader, unit), OperatorResult::more);
  EXPECT_EQ(reader.out.size(), 1u);
}

}  // namespace
}  // namespace hummer::follow_files_test
