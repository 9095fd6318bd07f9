#include "connectors/file_store/part_compressor.hpp"

#include <gtest/gtest.h>

#include "connectors/file/byte_input.hpp"
#include "connectors/file/file_reader_for_test.hpp"

namespace hummer::part_compressor_test {
namespace {

std::string read_back(SimulatedPlatform& platform, const std::string& packed,
                      CompressionFormat format) {
  put_file(platform, "/packed", packed);
  auto file = platform.files().open_for_reading("/packed");
  std::string text(1 << 20, '\0');
  auto input = make_decompressed_input(std::shared_ptr(std::move(*file)), format, packed.size());
  const Result<std::size_t> got = input->read(text);
  EXPECT_TRUE(got.ok()) << got.status().to_string();
  text.resize(got.ok() ? *got : 0);
  return text;
}

TEST(PartCompressor, WhatCameOutSoFarIsWholeBehindEachEnd) {
  const auto platform = make_simulated_platform({});
  Random random(7);
  std::string noise;
  for (int i = 0; i < 200'000; ++i) noise.push_back(static_cast<char>(random.below(256)));
  for (const FileCompression compression : {FileCompression::gzip, FileCompression::zstd}) {
    const CompressionFormat format =
        compression == FileCompression::gzip ? CompressionFormat::gzip : CompressionFormat::zstd;
    for (const int level : {0, 1, 9}) {
      auto compressor = make_part_compressor(compression, level);
      ASSERT_TRUE(compressor.ok());
      std::string out, text;
      ASSERT_TRUE((*compressor)->end(out).ok());
      EXPECT_EQ(out, "");
      for (const std::string& part :
           {std::string("some text\n"), noise, std::string(300'000, 'a'), std::string("x")}) {
        text += part;
        ASSERT_TRUE((*compressor)->add(part, out).ok());
        ASSERT_TRUE((*compressor)->end(out).ok());
        ASSERT_TRUE((*compressor)->end(out).ok());
        EXPECT_TRUE(read_back(*platform, out, format) == text);
      }
      EXPECT_GT((*compressor)->memory_bytes(), 10'000u);
    }
  }
}

}  // namespace
}  // namespace hummer::part_compressor_test
