#include "connectors/file/file_source.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/file/file_listing.hpp"
#include "connectors/file/file_reader_for_test.hpp"

namespace hummer::file_source_test {
namespace {

class FileSourceTest : public testing::Test {
 protected:
  ErrorCode failure_of(const std::string& path, const FileSourceOptions& options = {},
                       std::string* message = nullptr) {
    std::vector<Block> blocks;
    const Status status = Reader(*platform_, path, options).run(blocks);
    if (message) *message = status.message();
    return status.code();
  }
  std::string read(const std::string& path, const FileSourceOptions& options = {}) {
    std::vector<Block> blocks;
    const Status status = Reader(*platform_, path, options).run(blocks);
    EXPECT_TRUE(status.ok()) << status.to_string();
    std::string text;
    for (const Block& block : blocks) text += block.text;
    return text;
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
};

const std::string awkward_texts[] = {
    "one\ntwo\nthree\nfour and more\nfive\n",
    "no newline at the end\nlast",
    "\n\n\nx\n\n\n",
    "carriage\r\nreturn\r\n",
    std::string("nul\0in line\n\xff\xfe invalid\n\0\0", 25),
    "single line without end",
    "\n",
    "a",
};

TEST_F(FileSourceTest, EveryLineIsInExactlyTheSplitInWhichItBegins) {
  for (const std::string& text : awkward_texts) {
    put_file(*platform_, "/in", text);
    for (std::size_t split = 1; split <= text.size() + 1; ++split) {
      for (int parallelism = 1; parallelism <= 4; ++parallelism) {
        for (const bool mapped : {false, true}) {
          FileSourceOptions options;
          options.split_size_bytes = split;
          options.map_files = mapped;
          std::vector<Block> all;
          std::uint64_t bytes = 0;
          for (int subtask = 0; subtask < parallelism; ++subtask) {
            std::vector<Block> blocks;
            Reader reader(*platform_, "/in", options, subtask, parallelism);
            ASSERT_TRUE(reader.run(blocks).ok());
            EXPECT_EQ(reader.context().report().bytes, reader.context().report().bytes_expected);
            bytes += reader.context().report().bytes;
            for (const Block& block : blocks) {
              // Each line of the block, by its first byte.
              for (std::size_t at = 0; at < block.text.size();) {
                EXPECT_EQ((block.offset + at) / split % parallelism, subtask);
                const std::size_t newline = block.text.find('\n', at);
                at = newline == std::string::npos ? block.text.size() : newline + 1;
              }
              all.push_back(block);
            }
          }
          EXPECT_EQ(joined(all, "/in"), text) << "split " << split << " of " << parallelism;
          EXPECT_EQ(bytes, text.size());
        }
      }
    }
  }
}

TEST_F(FileSourceTest, BlocksAreWholeLinesAndNotLargerThanAsked) {
  for (const std::string& text : awkward_texts) {
    put_file(*platform_, "/in", text);
    for (std::size_t size = 1; size <= text.size() + 1; ++size) {
      for (const std::size_t split : {std::size_t{3}, std::size_t{10}, std::size_t{1000}}) {
        for (const bool mapped : {false, true}) {
          FileSourceOptions options;
          options.block_size_bytes = size;
          options.split_size_bytes = split;
          options.map_files = mapped;
          std::vector<Block> blocks;
          ASSERT_TRUE(Reader(*platform_, "/in", options).run(blocks).ok());
          EXPECT_EQ(joined(blocks, "/in"), text) << "block " << size << " split " << split;
          for (const Block& block : blocks) {
            const bool last = block.offset + block.text.size() == text.size();
            EXPECT_TRUE(last || block.text.back() == '\n');
            const std::size_t newline = block.text.find('\n');
            const bool one_line = newline == std::string::npos || newline + 1 == block.text.size();
            EXPECT_TRUE(block.text.size() <= size || one_line)
                << block.text.size() << " bytes, asked for " << size;
          }
        }
      }
    }
  }
}

TEST_F(FileSourceTest, CompressedFilesGiveTheirText) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i) + "\n";
  text += "without end";
  put_file(*platform_, "/in/gzip", gzip(text));
  put_file(*platform_, "/in/zstd", zstd(text));
  put_file(*platform_, "/in/members",
           gzip(text.substr(0, 1234)) + gzip("") + gzip(text.substr(1234)));
  put_file(*platform_, "/in/frames", zstd(text.substr(0, 1234)) + zstd(text.substr(1234)));
  for (const std::string name : {"gzip", "zstd", "members", "frames"}) {
    for (const std::size_t block : {1, 100, 65536}) {
      FileSourceOptions options;
      options.split_size_bytes = 100;  // does not cut compressed files
      options.block_size_bytes = block;
      std::vector<Block> blocks;
      int readers = 0;
      for (int subtask = 0; subtask < 2; ++subtask) {
        const std::size_t before = blocks.size();
        Reader reader(*platform_, "/in/" + name, options, subtask, 2);
        const Status status = reader.run(blocks);
        ASSERT_TRUE(status.ok()) << status.to_string();
        EXPECT_EQ(reader.context().report().bytes, reader.context().report().bytes_expected);
        readers += blocks.size() > before;
      }
      EXPECT_EQ(readers, 1);
      EXPECT_EQ(joined(blocks, "/in/" + name), text);
    }
  }
  // Asked not to look inside, they are data.
  FileSourceOptions raw;
  raw.compression = FileSourceOptions::Compression::none;
  EXPECT_EQ(read("/in/gzip", raw), get_file(*platform_, "/in/gzip"));
}

TEST_F(FileSourceTest, TruncatedGzipIsCorruptAndNamesTheFile) {
  const std::string packed = gzip("some text\nmore text\n");
  for (std::size_t length = 2; length < packed.size(); ++length) {
    put_file(*platform_, "/short.gz", packed.substr(0, length));
    std::string message;
    EXPECT_EQ(failure_of("/short.gz", {}, &message), ErrorCode::corrupt_file) << length;
    EXPECT_NE(message.find("/short.gz"), std::string::npos);
  }
}

TEST_F(FileSourceTest, FilesOfADirectoryOrPatternInOrder) {
  put_file(*platform_, "/data/b", "b\n");
  put_file(*platform_, "/data/a", "a\n");
  put_file(*platform_, "/data/sub/c", "c\n");
  put_file(*platform_, "/data/_SUCCESS", "no\n");
  put_file(*platform_, "/data/.hidden", "no\n");
  put_file(*platform_, "/data/empty", "");
  EXPECT_EQ(read("/data"), "a\nb\nc\n");
  EXPECT_EQ(read("/data/"), "a\nb\nc\n");
  EXPECT_EQ(read("/data/[ab]"), "a\nb\n");
  EXPECT_EQ(read("/da*"), "a\nb\nc\n");
  EXPECT_EQ(read("/data/empty"), "");
  ASSERT_TRUE(platform_->files().create_directories("/nothing").ok());
  EXPECT_EQ(read("/nothing"), "");
  put_file(*platform_, "/odd[1]", "literal\n");
  EXPECT_EQ(read("/odd[1]"), "literal\n");
}

TEST_F(FileSourceTest, ManySmallFilesAreSharedAmongReaders) {
  for (int i = 0; i < 10; ++i) put_file(*platform_, "/many/" + std::to_string(i), "x\n");
  for (int subtask = 0; subtask < 2; ++subtask) {
    std::vector<Block> blocks;
    ASSERT_TRUE(Reader(*platform_, "/many", {}, subtask, 2).run(blocks).ok());
    EXPECT_EQ(blocks.size(), 5u);
  }
}

TEST_F(FileSourceTest, MissingInput) {
  std::string message;
  EXPECT_EQ(failure_of("/missing", {}, &message), ErrorCode::not_found);
  EXPECT_NE(message.find("/missing"), std::string::npos);
  EXPECT_EQ(failure_of("/missing/*.txt", {}, &message), ErrorCode::not_found);
  EXPECT_NE(message.find("/missing/*.txt"), std::string::npos);
}

TEST_F(FileSourceTest, ALineAboveTheLimitFailsAndOneAtTheLimitPasses) {
  const std::string ends[] = {"", "\n", "\nmore\n"};
  for (const std::string& end : ends) {
    for (const bool mapped : {false, true}) {
      for (const std::size_t block : {1, 7, 20, 21, 1000}) {
        FileSourceOptions options;
        options.block_size_bytes = block;
        options.max_line_bytes = 20;
        options.map_files = mapped;
        const std::string good = "short\n" + std::string(20, 'x') + end;
        put_file(*platform_, "/lines", good);
        EXPECT_EQ(read("/lines", options), good);
        put_file(*platform_, "/lines", "short\n" + std::string(21, 'x') + end);
        std::string message;
        EXPECT_EQ(failure_of("/lines", options, &message), ErrorCode::limit_exceeded)
            << "block " << block << " end '" << end << "'";
        for (const char* part : {"/lines", "byte 6", "max_line_bytes", "20"}) {
          EXPECT_NE(message.find(part), std::string::npos) << message;
        }
      }
    }
  }
}

TEST_F(FileSourceTest, AFileThatShrinksIsNamed) {
  const std::string text(1000, '\n');
  for (const bool mapped : {false, true}) {
    put_file(*platform_, "/shrinks", text);
    FileSourceOptions options;
    options.block_size_bytes = 100;
    options.map_files = mapped;
    Reader reader(*platform_, "/shrinks", options);
    ASSERT_TRUE(reader.open().ok());
    std::vector<Block> blocks;
    ASSERT_EQ(reader.step(blocks), OperatorResult::more);
    platform_->truncate_file("/shrinks", 350);
    OperatorResult answer = OperatorResult::more;
    while (answer == OperatorResult::more) answer = reader.step(blocks);
    EXPECT_EQ(answer, OperatorResult::failed);
    EXPECT_EQ(reader.context().failure().code(), ErrorCode::file_changed);
    EXPECT_NE(reader.context().failure().message().find("/shrinks"), std::string::npos);
  }
}

TEST_F(FileSourceTest, AMappedFileThatShrinksAfterItsLastBlockFailsAtClose) {
  put_file(*platform_, "/shrinks", "only line\n");
  FileSourceOptions options;
  options.map_files = true;
  Reader reader(*platform_, "/shrinks", options);
  ASSERT_TRUE(reader.open().ok());
  std::vector<Block> blocks;
  ASSERT_EQ(reader.step(blocks), OperatorResult::more);
  ASSERT_EQ(reader.step(blocks), OperatorResult::done);
  platform_->truncate_file("/shrinks", 3);
  EXPECT_EQ(reader.source().close().code(), ErrorCode::file_changed);
}

// Readers that are made with one listing, as those of a job are.
class ListedFilesTest : public FileSourceTest {
 protected:
  static constexpr std::size_t split_bytes = 10;

  SourceListing list(const std::string& path) {
    const auto factory = make_file_source(path, options_);
    Result<std::string> listing =
        dynamic_cast<const ListingSourceFactory&>(*factory).list(*platform_);
    EXPECT_TRUE(listing.ok()) << listing.status().to_string();
    return std::make_shared<const std::string>(listing.ok() ? *listing : std::string());
  }
  // All lanes, one after the other: what all subtasks of a job read.
  Status read_all(Platform& platform, const SourceListing& listing, std::vector<Block>& blocks) {
    for (int subtask = 0; subtask < 2; ++subtask) {
      Reader reader(platform, "/in", options_, subtask, 2, listing);
      HUMMER_TRY(reader.run(blocks));
    }
    return {};
  }
  std::string text_of(std::vector<Block> blocks) {
    std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
      return std::pair(a.origin, a.offset) < std::pair(b.origin, b.offset);
    });
    std::string text;
    for (const Block& block : blocks) text += block.text;
    return text;
  }
  void append(const std::string& path, std::string_view text) {
    auto file = platform_->files().open_for_writing(path, WriteMode::append);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->append(text).ok());
  }

  FileSourceOptions options_{.split_size_bytes = split_bytes};
};

TEST_F(ListedFilesTest, AFileThatAppearsBehindTheListingIsNotRead) {
  put_file(*platform_, "/in/b", "b1 line\nb2 line\nb3 line\n");
  put_file(*platform_, "/in/d", "d1 line\nd2 line\n");
  const SourceListing listing = list("/in");
  std::vector<Block> blocks;
  Reader first(*platform_, "/in", options_, 0, 2, listing);
  ASSERT_TRUE(first.run(blocks).ok());
  put_file(*platform_, "/in/a", "which would shift all splits\n");
  put_file(*platform_, "/in/c", "and here\n");
  Reader second(*platform_, "/in", options_, 1, 2, listing);
  ASSERT_TRUE(second.run(blocks).ok());
  EXPECT_EQ(text_of(blocks), "b1 line\nb2 line\nb3 line\nd1 line\nd2 line\n");
}

TEST_F(ListedFilesTest, AFileThatGrowsIsNamed) {
  for (const bool mapped : {false, true}) {
    put_file(*platform_, "/in", std::string(100, '\n'));
    options_.map_files = mapped;
    options_.block_size_bytes = 10;
    options_.split_size_bytes = 100;
    const SourceListing listing = list("/in");
    Reader reader(*platform_, "/in", options_, 0, 1, listing);
    ASSERT_TRUE(reader.open().ok());
    std::vector<Block> blocks;
    ASSERT_EQ(reader.step(blocks), OperatorResult::more);
    append("/in", "appended\n");
    OperatorResult answer = OperatorResult::more;
    while (answer == OperatorResult::more) answer = reader.step(blocks);
    EXPECT_EQ(answer, OperatorResult::failed);
    EXPECT_EQ(reader.context().failure().code(), ErrorCode::file_changed);
    EXPECT_NE(reader.context().failure().message().find("'/in'"), std::string::npos);
    EXPECT_EQ(text_of(blocks).find("appended"), std::string::npos);
    // And one that comes later does not begin.
    Reader later(*platform_, "/in", options_, 0, 1, listing);
    std::vector<Block> none;
    EXPECT_EQ(later.run(none).code(), ErrorCode::file_changed);
    EXPECT_TRUE(none.empty());
  }
}

TEST_F(ListedFilesTest, OtherContentOnAnotherMachineIsNamed) {
  const std::string text = "one line\ntwo line\nthree\n";
  const std::string others[] = {"one line\ntwo line\nthr33\n", text + "more\n", "one line\n"};
  put_file(*platform_, "/in", text);
  const SourceListing listing = list("/in");
  std::vector<Block> blocks;
  for (const std::string& other : others) {
    const auto machine = make_simulated_platform({});
    put_file(*machine, "/in", other);
    ASSERT_EQ(machine->files().stat("/in")->modified_ms,
              platform_->files().stat("/in")->modified_ms);
    const Status refused = read_all(*machine, listing, blocks);
    EXPECT_EQ(refused.code(), ErrorCode::file_changed);
    EXPECT_NE(refused.message().find("'/in'"), std::string::npos) << refused.message();
  }
  const auto missing = make_simulated_platform({});
  EXPECT_EQ(read_all(*missing, listing, blocks).code(), ErrorCode::not_found);
  EXPECT_TRUE(blocks.empty());
  const auto same = make_simulated_platform({});
  put_file(*same, "/in", text);
  EXPECT_TRUE(read_all(*same, listing, blocks).ok());
  EXPECT_EQ(text_of(blocks), text);
}

TEST_F(ListedFilesTest, WhatWasReadBeforeARestartNeedNotBeThereAnyMore) {
  put_file(*platform_, "/in/1", "first\n");
  put_file(*platform_, "/in/2", "second\n");
  const SourceListing listing = list("/in");
  Reader before(*platform_, "/in", options_, 0, 1, listing);
  ASSERT_TRUE(before.open().ok());
  std::vector<Block> blocks;
  ASSERT_EQ(before.step(blocks), OperatorResult::more);
  ASSERT_EQ(before.step(blocks), OperatorResult::more);
  const std::string state = before.snapshot();
  ASSERT_TRUE(platform_->files().remove("/in/1").ok());
  Reader after(*platform_, "/in", options_, 0, 1, listing);
  ASSERT_TRUE(after.restore(state).ok());
  ASSERT_TRUE(after.run(blocks).ok());
  EXPECT_EQ(blocks.back().text, "second\n");
}

TEST_F(ListedFilesTest, AListingOfAnotherPathOrSplitSizeIsRefused) {
  put_file(*platform_, "/in", "line\n");
  const SourceListing listing = list("/in");
  EXPECT_EQ(Reader(*platform_, "/other", options_, 0, 1, listing).open().code(),
            ErrorCode::file_changed);
  options_.split_size_bytes = 7;
  EXPECT_EQ(Reader(*platform_, "/in", options_, 0, 1, listing).open().code(),
            ErrorCode::file_changed);
}

TEST_F(FileSourceTest, GoesOnAfterASnapshotBetweenAnyTwoCalls) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += std::string(i * 7 % 11, 'a' + i % 26) + "\n";
  text += "end";
  put_file(*platform_, "/in/1", text);
  put_file(*platform_, "/in/2.gz", gzip(text));
  put_file(*platform_, "/in/3", "tail\n");
  for (const bool mapped : {false, true}) {
    FileSourceOptions options;
    options.split_size_bytes = 40;
    options.block_size_bytes = 16;
    options.map_files = mapped;
    for (int calls = 0;; ++calls) {
      std::vector<Block> all;
      bool ended = true;
      std::vector<std::string> states;
      for (int subtask = 0; subtask < 2; ++subtask) {
        Reader first(*platform_, "/in", options, subtask, 2);
        ASSERT_TRUE(first.open().ok());
        OperatorResult answer = OperatorResult::more;
        for (int i = 0; i < calls && answer == OperatorResult::more; ++i) answer = first.step(all);
        ended = ended && answer == OperatorResult::done;
        states.push_back(first.snapshot());
      }
      // Restored with the same parallelism, and as one reader that is given both pieces.
      for (const bool together : {false, true}) {
        std::vector<Block> blocks = all;
        if (together) {
          Reader one(*platform_, "/in", options, 0, 1);
          for (const std::string& state : states) ASSERT_TRUE(one.restore(state).ok());
          ASSERT_TRUE(one.run(blocks).ok());
        } else {
          for (int subtask = 0; subtask < 2; ++subtask) {
            Reader second(*platform_, "/in", options, subtask, 2);
            ASSERT_TRUE(second.restore(states[subtask]).ok());
            ASSERT_TRUE(second.run(blocks).ok());
          }
        }
        EXPECT_EQ(joined(blocks, "/in/1"), text);
        EXPECT_EQ(joined(blocks, "/in/2.gz"), text);
        EXPECT_EQ(joined(blocks, "/in/3"), "tail\n");
      }
      if (ended) break;
    }
  }
}

TEST_F(FileSourceTest, RestoringOverOtherFilesFails) {
  put_file(*platform_, "/in", "one\ntwo\n");
  Reader first(*platform_, "/in", {});
  ASSERT_TRUE(first.open().ok());
  const std::string state = first.snapshot();
  put_file(*platform_, "/in", "something else\n");
  Reader second(*platform_, "/in", {});
  ASSERT_TRUE(second.restore(state).ok());
  EXPECT_EQ(second.open().code(), ErrorCode::file_changed);
  Reader third(*platform_, "/in", {});
  EXPECT_EQ(third.restore(state.substr(0, state.size() - 1)).code(), ErrorCode::corrupt_record);
  Reader nothing_left(*platform_, "/in", {});
  ASSERT_TRUE(nothing_left.restore("").ok());
  std::vector<Block> blocks;
  ASSERT_TRUE(nothing_left.run(blocks).ok());
  EXPECT_TRUE(blocks.empty());
}

TEST_F(FileSourceTest, BlocksOutliveTheSourceAndAreNotOverwritten) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  put_file(*platform_, "/in", text);
  std::vector<Batch> kept;
  {
    FileSourceOptions options;
    options.block_size_bytes = 64;
    Reader reader(*platform_, "/in", options);
    ASSERT_TRUE(reader.open().ok());
    while (reader.source().produce(reader.out()) == OperatorResult::more) {
      kept.push_back(std::move(reader.out().batch()));
    }
    ASSERT_TRUE(reader.source().close().ok());
  }
  std::string seen;
  for (const Batch& batch : kept) {
    for (const TextBlock& block : batch.values<TextBlock>()) {
      EXPECT_EQ(*block.origin, "/in");
      seen += block.view();
    }
  }
  EXPECT_EQ(seen, text);
}

TEST_F(FileSourceTest, OneBufferGoesRoundWhenBlocksAreDroppedAtOnce) {
  put_file(*platform_, "/in", std::string(100000, '\n'));
  FileSourceOptions options;
  options.block_size_bytes = 100;
  Reader reader(*platform_, "/in", options);
  ASSERT_TRUE(reader.open().ok());
  std::map<const char*, int> addresses;
  while (reader.source().produce(reader.out()) == OperatorResult::more) {
    ++addresses[reader.out().batch().values<TextBlock>()[0].data];
    reader.out().batch().clear();
  }
  EXPECT_EQ(addresses.size(), 1u);
}

TEST_F(FileSourceTest, OptionsAreChecked) {
  put_file(*platform_, "/in", "x");
  FileSourceOptions options;
  options.split_size_bytes = 0;
  EXPECT_EQ(failure_of("/in", options), ErrorCode::invalid_configuration);
  options = {};
  options.block_size_bytes = 0;
  EXPECT_EQ(failure_of("/in", options), ErrorCode::invalid_configuration);
  options = {};
  options.max_line_bytes = SIZE_MAX;
  EXPECT_EQ(failure_of("/in", options), ErrorCode::invalid_configuration);
}

}  // namespace
}  // namespace hummer::file_source_test
