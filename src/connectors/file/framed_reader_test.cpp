// Files of units with a framing: each unit is read once, however the file is cut and wherever
// reading goes on again.
#include "connectors/file/framed_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "connectors/file/file_reader_for_test.hpp"

namespace hummer::framed_reader_test {
namespace {

// "H", the head's size, its bytes; units: their size, their bytes. With marks of two bytes: what
// the head ends with, and each unit.
class Framing final : public RecordFraming {
 public:
  explicit Framing(std::size_t mark_bytes) : mark_bytes_(mark_bytes) {}
  std::string_view name() const override { return "test"; }
  std::size_t mark_bytes() const override { return mark_bytes_; }
  Result<std::size_t> head_bytes(std::string_view text) const override {
    if (!text.empty() && text[0] != 'H') return Status(ErrorCode::corrupt_file, "no H");
    return text.size() < 2 ? unknown : static_cast<std::size_t>(text[1]);
  }
  Result<std::size_t> unit_bytes(std::string_view text) const override {
    if (text[0] == 0) return Status(ErrorCode::corrupt_file, "an empty unit");
    return static_cast<std::size_t>(text[0]);
  }

 private:
  std::size_t mark_bytes_;
};

const Framing marked(2);
const Framing unmarked(0);
const std::string head("H\x05?ab");

// Some have a mark inside, or a part of one at their begin.
std::string units() {
  std::string text;
  for (const std::string unit :
       {"x", "", "aaaaaaaaaaaaa", "b", "long enough to be cut", "a", "yz"}) {
    text += static_cast<char>(unit.size() + 3);
    text += unit + "ab";
  }
  return text;
}

class FramedReader : public testing::Test {
 protected:
  void SetUp() override {
    put_file(*platform_, "/in/plain", head + units());
    put_file(*platform_, "/in/packed", gzip(head + units()));
  }
  std::string failure_of(const std::string& text, std::size_t most = 100) {
    put_file(*platform_, "/bad", text);
    FileSourceOptions options;
    options.framing = &marked;
    options.max_line_bytes = most;
    std::vector<Block> blocks;
    const Status status = Reader(*platform_, "/bad", options).run(blocks);
    EXPECT_FALSE(status.ok());
    return status.to_string();
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
};

TEST_F(FramedReader, EachUnitComesOnceBehindTheHeadHoweverTheFileIsCut) {
  const std::string text = head + units();
  for (const std::string path : {"/in/plain", "/in/packed"}) {
    for (const Framing* framing : {&marked, &unmarked}) {
      for (std::size_t split = 1; split <= text.size(); ++split) {
        for (const std::size_t block : {1, 2, 7, 100}) {
          FileSourceOptions options;
          options.split_size_bytes = split;
          options.block_size_bytes = block;
          options.framing = framing;
          std::vector<Block> all{{path, 0, head}};
          for (int subtask = 0; subtask < 2; ++subtask) {
            std::vector<Block> blocks;
            Reader reader(*platform_, path, options, subtask, 2);
            ASSERT_TRUE(reader.run(blocks).ok());
            ASSERT_TRUE(blocks.empty() || blocks[0].offset == 0);
            for (Block& each : blocks) {
              if (each.offset == 0) {
                EXPECT_EQ(each.text, head);
              } else {
                all.push_back(std::move(each));
              }
            }
          }
          ASSERT_EQ(joined(all, path), text) << path << " split " << split << " block " << block;
        }
      }
    }
  }
}

TEST_F(FramedReader, WhatIsLeftBehindASnapshotIsReadByAnother) {
  const std::string text = head + units();
  for (const std::string path : {"/in/plain", "/in/packed"}) {
    for (const std::size_t split : {3, 20, 1000}) {
      FileSourceOptions options;
      options.split_size_bytes = split;
      options.block_size_bytes = 1;
      options.framing = &marked;
      for (int steps = 0; steps < 30; ++steps) {
        std::vector<Block> blocks;
        Reader first(*platform_, path, options);
        ASSERT_TRUE(first.open().ok());
        for (int i = 0; i < steps && first.step(blocks) == OperatorResult::more; ++i) {
        }
        Reader second(*platform_, path, options);
        ASSERT_TRUE(second.restore(first.snapshot()).ok());
        std::vector<Block> rest;
        ASSERT_TRUE(second.run(rest).ok());
        EXPECT_TRUE(rest.empty() || rest[0].offset == 0);
        blocks.insert(blocks.end(), rest.begin(), rest.end());
        std::erase_if(blocks, [](const Block& block) { return block.offset == 0; });
        blocks.push_back({path, 0, head});
        EXPECT_EQ(joined(blocks, path), text) << "split " << split << ", step " << steps;
      }
    }
  }
}

TEST_F(FramedReader, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_NE(failure_of("X").find("'/bad', byte 0: no H"), std::string::npos) << failure_of("X");
  EXPECT_NE(failure_of("H\x09").find("ends inside of its head"), std::string::npos);
  EXPECT_NE(failure_of(head + "\x04xab\x09xab").find("byte 9: the file ends inside"),
            std::string::npos)
      << failure_of(head + "\x04xab\x09xab");
  EXPECT_NE(failure_of(head + "\x04xac\x04xab").find("byte 5: the 4 bytes"), std::string::npos);
  EXPECT_NE(failure_of(head + "\x7fx" + std::string(200, 'x')).find("max_line_bytes"),
            std::string::npos);
  EXPECT_NE(failure_of("H\x7f" + std::string(200, 'x')).find("max_line_bytes"), std::string::npos);
}

}  // namespace
}  // namespace hummer::framed_reader_test
