#include "answers.hpp"

#include <gtest/gtest.h>

#include "credentials.hpp"
#include "sender.hpp"

namespace hummer::s3::answers_test {
namespace {

TEST(S3Answers, AListAndWhereItGoesOn) {
  const auto listing = read_listing(
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</"
      "NextContinuationToken><Contents><Key>a b</Key><LastModified>2026-11-26T10:29:46.120Z</"
      "LastModified><ETag>&quot;e&quot;</ETag><Size>12</Size></Contents><CommonPrefixes><Prefix>c/"
      "</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_TRUE(listing.ok()) << listing.status().to_string();
  ASSERT_EQ(listing->objects.size(), 1u);
  EXPECT_EQ(listing->objects[0].key, "a b");
  EXPECT_EQ(listing->objects[0].etag, "\"e\"");
  EXPECT_EQ(listing->objects[0].size_bytes, 12u);
  EXPECT_EQ(listing->objects[0].modified_ms, 1795688986120);
  EXPECT_EQ(listing->prefixes, std::vector<std::string>{"c/"});
  EXPECT_EQ(listing->next, "t");
}

TEST(S3Answers, WhatIsNotAListIsRefused) {
  for (const char* text :
       {"<Error><Code>A</Code></Error>", "<ListBucketResult><Contents/></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>"}) {
    EXPECT_EQ(read_listing(text).status().code(), ErrorCode::protocol_error) << text;
  }
}

TEST(S3Answers, TimesOfBothForms) {
  EXPECT_EQ(parse_time_ms("Thu, 26 Nov 2026 10:29:46 GMT"), 1795688986000);
  EXPECT_EQ(parse_time_ms("2026-11-26T10:29:46Z"), 1795688986000);
  EXPECT_EQ(parse_time_ms("yesterday"), 0);
}

TEST(S3Answers, ProfilesOfAFile) {
  const std::string file =
      "# c\n[default]\naws_access_key_id = A\n\n[profile other]\r\nAWS_ACCESS_KEY_ID=B \r\nx\n";
  EXPECT_EQ(profile_values(file, "default").at("aws_access_key_id"), "A");
  EXPECT_EQ(profile_values(file, "other").at("aws_access_key_id"), "B");
  EXPECT_TRUE(profile_values(file, "none").empty());
}

TEST(S3Answers, RequestsWaitForTheirTokens) {
  TokenBucket bucket(2);
  EXPECT_EQ(bucket.take(100), 0);
  EXPECT_EQ(bucket.take(100), 0);
  EXPECT_DOUBLE_EQ(bucket.take(100), 0.5);
  EXPECT_DOUBLE_EQ(bucket.take(100), 1);
  EXPECT_EQ(bucket.take(102), 0);
  EXPECT_EQ(TokenBucket(0).take(1), 0);
}

}  // namespace
}  // namespace hummer::s3::answers_test
