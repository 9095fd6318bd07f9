#include "connectors/file/file_listing.hpp"

#include <gtest/gtest.h>

#include "connectors/connector_test_context.hpp"

namespace hummer::file_listing_test {
namespace {

TEST(FileListing, ComesBackFromItsBytes) {
  const auto platform = make_simulated_platform({});
  put_file(*platform, "/in/a/long name/1", "x");
  put_file(*platform, "/in/a/long name/10", "not compressed");
  put_file(*platform, "/in/b", "");
  FileSourceOptions options;
  options.compression = FileSourceOptions::Compression::gzip;
  const Result<FileListing> made = make_listing(platform->files(), "/in", options);
  ASSERT_TRUE(made.ok());
  const std::string bytes = to_bytes(*made);
  const Result<FileListing> listing = listing_from(bytes);
  ASSERT_TRUE(listing.ok());
  ASSERT_EQ(listing->files.size(), 3u);
  EXPECT_EQ(listing->files[1].path, "/in/a/long name/10");
  EXPECT_TRUE(listing->files[1].one_split);
  EXPECT_EQ(listing->files[2].path, "/in/b");
  EXPECT_EQ(to_bytes(*listing), bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(listing_from(std::string_view(bytes).substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace hummer::file_listing_test
