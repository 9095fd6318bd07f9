// What tests of the file source share: one subtask of it that is run by hand, and compressed texts.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "connectors/connector_test_context.hpp"
#include "connectors/file/file_source.hpp"

namespace hummer {

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct Block {
  std::string origin;
  std::uint64_t offset;
  std::string text;
};

// One subtask that is run by hand.
class Reader {
 public:
  Reader(Platform& platform, const std::string& path, const FileSourceOptions& options,
         int subtask = 0, int parallelism = 1, SourceListing listing = nullptr)
      : context_(platform, subtask, parallelism), source_(path, options, std::move(listing)) {
    source_.set_context(context_);
    source_.declare(out_);
  }

  Status open() { return source_.open(); }
  Status restore(const std::string& state) {
    ByteReader in(state);
    return source_.restore(in);
  }
  std::string snapshot() {
    std::string space;
    ByteWriter out(space);
    EXPECT_TRUE(source_.snapshot(out).ok());
    return std::string(out.view());
  }
  // One call; appends what it emits.
  OperatorResult step(std::vector<Block>& blocks) {
    const OperatorResult answer = source_.produce(out_);
    for (const TextBlock& block : out_.batch().values<TextBlock>()) {
      const auto kept = out_.batch().kept_buffers();
      EXPECT_TRUE(std::any_of(kept.begin(), kept.end(), [&](const BufferRef& buffer) {
        return buffer->contains(block.data, block.size);
      }));
      blocks.push_back({*block.origin, block.offset, std::string(block.view())});
    }
    out_.batch().clear();
    return answer;
  }
  Status run(std::vector<Block>& blocks) {
    HUMMER_TRY(open());
    OperatorResult answer = OperatorResult::more;
    while (answer == OperatorResult::more) answer = step(blocks);
    if (answer == OperatorResult::failed) return context_.failure();
    EXPECT_EQ(answer, OperatorResult::done);
    return source_.close();
  }
  Output& out() { return out_; }
  FileSource& source() { return source_; }
  ConnectorTestContext& context() { return context_; }

 private:
  ConnectorTestContext context_;
  Output out_{1};
  FileSource source_;
};

// All blocks of a file in order of their offset: together they must be the file.
inline std::string joined(std::vector<Block> blocks, const std::string& origin) {
  std::erase_if(blocks, [&](const Block& block) { return block.origin != origin; });
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.offset < b.offset; });
  std::string text;
  for (const Block& block : blocks) {
    EXPECT_EQ(block.offset, text.size());
    text += block.text;
  }
  return text;
}

}  // namespace hummer
