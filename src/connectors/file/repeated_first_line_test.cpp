// The file source for formats: files that begin with a header, and lines with quotes.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/file/file_reader_for_test.hpp"

namespace hummer::repeated_first_line_test {
namespace {

class FileSourceOfFormats : public testing::Test {
 protected:
  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
};

// For a header: whoever reads a part of a file sees it.
TEST_F(FileSourceOfFormats, WhatDoesNotBeginItsFileIsPrecededByTheFirstLine) {
  const std::string text = "head\none\ntwo\nthree\nfour\n";
  put_file(*platform_, "/in/plain", text);
  put_file(*platform_, "/in/packed", gzip(text));
  for (const std::string path : {"/in/plain", "/in/packed"}) {
    for (std::size_t split = 1; split <= text.size(); ++split) {
      FileSourceOptions options;
      options.split_size_bytes = split;
      options.block_size_bytes = 1;
      options.repeat_first_line = true;
      for (int subtask = 0; subtask < 2; ++subtask) {
        std::vector<Block> blocks;
        Reader reader(*platform_, path, options, subtask, 2);
        ASSERT_TRUE(reader.run(blocks).ok());
        std::string last = "none";
        for (const Block& block : blocks) {
          if (block.offset == 0) {
            EXPECT_EQ(block.text, "head\n");
          } else if (last == "none") {
            ADD_FAILURE() << block.text << " came without the first line, split " << split;
          }
          last = block.text;
        }
      }
    }
  }
  // And whoever goes on in the middle.
  FileSourceOptions options;
  options.block_size_bytes = 1;
  options.repeat_first_line = true;
  for (const std::string path : {"/in/plain", "/in/packed"}) {
    Reader first(*platform_, path, options);
    std::vector<Block> blocks;
    ASSERT_TRUE(first.open().ok());
    for (int i = 0; i < 3; ++i) ASSERT_EQ(first.step(blocks), OperatorResult::more);
    Reader second(*platform_, path, options);
    ASSERT_TRUE(second.restore(first.snapshot()).ok());
    std::vector<Block> rest;
    ASSERT_TRUE(second.run(rest).ok());
    ASSERT_EQ(rest.size(), 3u);
    EXPECT_EQ(rest[0].text, "head\n");
    EXPECT_EQ(rest[0].offset, 0u);
    EXPECT_EQ(rest[1].text, "three\n");
  }
}

// Also where the first line has come and nothing else of the split yet.
TEST_F(FileSourceOfFormats, WhoeverGoesOnAtAnyPlaceHasEachLineOnce) {
  const std::string text = "head\none\ntwo\nthree\nfour\n";
  put_file(*platform_, "/in/plain", text);
  for (const bool mapped : {false, true}) {
    for (std::size_t split = 1; split <= text.size(); ++split) {
      FileSourceOptions options;
      options.split_size_bytes = split;
      options.block_size_bytes = 1;
      options.map_files = mapped;
      options.repeat_first_line = true;
      for (int steps = 0; steps < 12; ++steps) {
        std::vector<Block> blocks;
        Reader first(*platform_, "/in/plain", options);
        ASSERT_TRUE(first.open().ok());
        for (int i = 0; i < steps && first.step(blocks) == OperatorResult::more; ++i) {
        }
        Reader second(*platform_, "/in/plain", options);
        ASSERT_TRUE(second.restore(first.snapshot()).ok());
        ASSERT_TRUE(second.run(blocks).ok());
        std::erase_if(blocks, [](const Block& block) { return block.offset == 0; });
        blocks.push_back({"/in/plain", 0, "head\n"});
        EXPECT_EQ(joined(blocks, "/in/plain"), text) << "split " << split << ", step " << steps;
      }
    }
  }
}

TEST_F(FileSourceOfFormats, LineEndsInQuotesEndNoLine) {
  const std::string text = "a\n'b\nc'\n''\n'd''\n'\ne\n'open\nto the end";
  const std::vector<std::string> lines{"a\n",       "'b\nc'\n", "''\n",
                                       "'d''\n'\n", "e\n",      "'open\nto the end"};
  put_file(*platform_, "/in/plain", text);
  put_file(*platform_, "/in/packed", gzip(text));
  for (const std::string path : {"/in/plain", "/in/packed"}) {
    for (std::size_t block = 1; block <= text.size(); ++block) {
      for (const bool mapped : {false, true}) {
        FileSourceOptions options;
        options.split_size_bytes = 3;
        options.block_size_bytes = block;
        options.map_files = mapped;
        options.quote = '\'';
        std::vector<Block> blocks;
        ASSERT_TRUE(Reader(*platform_, path, options).run(blocks).ok());
        EXPECT_EQ(joined(blocks, path), text);
        std::string seen;
        for (const Block& each : blocks) {
          seen += each.text;
          const auto quotes = std::count(seen.begin(), seen.end(), '\'');
          EXPECT_TRUE(seen.size() == text.size() || (seen.back() == '\n' && quotes % 2 == 0))
              << "a block ends behind " << seen;
        }
        if (block == 1) {
          EXPECT_EQ(blocks.size(), 6u);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hummer::repeated_first_line_test
