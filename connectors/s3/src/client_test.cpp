#include <hummer/s3/client.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/store_for_test.hpp"

namespace hummer::s3::client_test {
namespace {

class S3Client : public testing::Test {
 protected:
  void SetUp() override {
    store = StoreForTest::shared();
    if (store == nullptr) GTEST_SKIP() << StoreForTest::why_not();
    store->faults("{}");
    store->reset_counts();
    folder = store->make_folder("client");
  }
  void TearDown() override {
    if (store != nullptr) store->faults("{}");
  }
  Place at(const std::string& name) const { return {"tests", folder + "/" + name}; }
  std::string read(const Place& place, std::uint64_t offset = 0, std::size_t most = 1 << 20) {
    std::string into(most, '\0');
    const auto got = store->client().get(place, offset, {into.data(), into.size()});
    EXPECT_TRUE(got.ok()) << got.status().to_string();
    into.resize(got.ok() ? *got : 0);
    return into;
  }

  StoreForTest* store = nullptr;
  std::string folder;
};

TEST_F(S3Client, WritesAndReadsRanges) {
  Client& client = store->client();
  const Place place = at("a b+c&d=e%~\xC3\xBC");
  const auto etag = client.put(place, "0123456789");
  ASSERT_TRUE(etag.ok()) << etag.status().to_string();
  const auto object = client.head(place);
  ASSERT_TRUE(object.ok()) << object.status().to_string();
  EXPECT_EQ(object->size_bytes, 10u);
  EXPECT_EQ(object->etag, *etag);
  EXPECT_GT(object->modified_ms, 0);
  EXPECT_EQ(read(place), "0123456789");
  EXPECT_EQ(read(place, 3, 4), "3456");
  EXPECT_EQ(read(place, 8, 4), "89");
  EXPECT_EQ(read(place, 10, 4), "");
  EXPECT_EQ(client.get(at("none"), 0, {}).status().code(), ErrorCode::ok);
  EXPECT_EQ(client.head(at("none")).status().code(), ErrorCode::not_found);
  EXPECT_TRUE(client.remove(place).ok());
  EXPECT_TRUE(client.remove(place).ok()) << "once more";
  EXPECT_EQ(client.head(place).status().code(), ErrorCode::not_found);
}

TEST_F(S3Client, ConditionsHold) {
  Client& client = store->client();
  const auto first = client.put(at("x"), "one", {.only_new = true});
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ(client.put(at("x"), "two", {.only_new = true}).status().code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(read(at("x")), "one");
  const auto second = client.put(at("x"), "two", {.if_match = *first});
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_EQ(client.put(at("x"), "three", {.if_match = *first}).status().code(),
            ErrorCode::file_changed);
  char into[3];
  EXPECT_EQ(client.get(at("x"), 0, into, *first).status().code(), ErrorCode::file_changed);
  EXPECT_TRUE(client.get(at("x"), 0, into, *second).ok());
}

TEST_F(S3Client, ListsPageByPage) {
  Client& client = store->client();
  std::vector<std::string> keys;
  for (int i = 0; i < 5; ++i) {
    keys.push_back(at("d" + std::to_string(i % 2) + "/" + std::to_string(i)).key);
    ASSERT_TRUE(client.put({"tests", keys.back()}, "x").ok());
  }
  std::vector<std::string> found;
  int pages = 0;
  for (std::string from;; ++pages) {
    const auto page = client.list("tests", folder + "/", {}, from, 2);
    ASSERT_TRUE(page.ok()) << page.status().to_string();
    for (const Object& object : page->objects) found.push_back(object.key);
    if (page->next.empty()) break;
    from = page->next;
  }
  EXPECT_GE(pages, 2);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(found, keys);
  const auto top = client.list("tests", folder + "/", "/");
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(top->prefixes, (std::vector<std::string>{folder + "/d0/", folder + "/d1/"}));
  EXPECT_TRUE(top->objects.empty());
  ASSERT_TRUE(client.remove("tests", keys).ok());
  EXPECT_TRUE(client.list("tests", folder + "/d0/")->objects.empty());
}

TEST_F(S3Client, UploadsAppearWhole) {
  Client& client = store->client();
  const auto upload = client.begin_upload(at("large"));
  ASSERT_TRUE(upload.ok()) << upload.status().to_string();
  const std::string megabytes(5 << 20, 'a');
  std::vector<Part> parts;
  for (const std::string_view bytes : {std::string_view(megabytes), std::string_view("end")}) {
    auto part = client.put_part(*upload, static_cast<int>(parts.size()) + 1, bytes);
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    parts.push_back(std::move(*part));
  }
  EXPECT_EQ(client.head(at("large")).status().code(), ErrorCode::not_found);
  const auto pending = client.uploads("tests", folder + "/");
  ASSERT_TRUE(pending.ok()) << pending.status().to_string();
  ASSERT_EQ(pending->size(), 1u);
  EXPECT_EQ(pending->front().id, upload->id);
  EXPECT_EQ(client.parts(*upload)->size(), 2u);
  ASSERT_TRUE(client.complete(*upload, parts).ok());
  EXPECT_EQ(client.head(at("large"))->size_bytes, megabytes.size() + 3);
  EXPECT_EQ(read(at("large"), megabytes.size()), "end");
  EXPECT_TRUE(client.complete(*upload, parts).ok()) << "once more";

  const auto other = client.begin_upload(at("given-up"));
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(client.abort(*other).ok());
  EXPECT_TRUE(client.abort(*other).ok()) << "once more";
  EXPECT_EQ(client.complete(*other, parts).code(), ErrorCode::not_found);
}

TEST_F(S3Client, TriesAgain) {
  Client& client = store->client();
  for (const char* fault : {"503", "drop", "lose", "cut"}) {
    const Place place = at(fault);
    store->faults(std::string("{\"") + fault + "\": [1, 0, 2]}");
    const auto put = client.put(place, "bytes");
    ASSERT_TRUE(put.ok()) << fault << ": " << put.status().to_string();
    EXPECT_EQ(read(place), "bytes") << fault;
    store->reset_counts();
  }
}

TEST_F(S3Client, AnAnswerThatWasLostIsNoConflict) {
  Client& client = store->client();
  store->faults(R"({"lose": [1, 0, 1], "methods": ["PUT"]})");
  EXPECT_TRUE(client.put(at("new"), "own", {.only_new = true}).ok());
  EXPECT_EQ(store->failed("lose"), 1);
  EXPECT_EQ(read(at("new")), "own");
  EXPECT_FALSE(client.put(at("new"), "other", {.only_new = true}).ok());

  const auto upload = client.begin_upload(at("upload"));
  ASSERT_TRUE(upload.ok());
  const auto part = client.put_part(*upload, 1, "part");
  ASSERT_TRUE(part.ok());
  store->reset_counts();
  store->faults(R"({"lose": [1, 0, 1], "methods": ["POST"]})");
  EXPECT_TRUE(client.complete(*upload, {&*part, 1}).ok());
  EXPECT_EQ(store->failed("lose"), 1);
  EXPECT_EQ(read(at("upload")), "part");
}

TEST_F(S3Client, SaysWhatIsWrong) {
  Settings settings = store->settings();
  settings.secret_access_key = "another";
  const Status refused = (*Client::make(settings))->put(at("x"), "x").status();
  EXPECT_EQ(refused.code(), ErrorCode::permission_denied);
  EXPECT_NE(refused.message().find("SignatureDoesNotMatch"), std::string::npos)
      << refused.message();
  const Status no_bucket = store->client().list("no-such-bucket", "").status();
  EXPECT_EQ(no_bucket.code(), ErrorCode::invalid_configuration) << no_bucket.message();
  settings = store->settings();
  settings.endpoint = "http://127.0.0.1:1";
  settings.retry_ms = 100;
  const Status away = (*Client::make(settings))->head(at("x")).status();
  EXPECT_EQ(away.code(), ErrorCode::connection_refused);
  EXPECT_NE(away.message().find("127.0.0.1:1"), std::string::npos);
  settings.endpoint = "127.0.0.1:1";
  EXPECT_EQ(Client::make(settings).status().code(), ErrorCode::invalid_configuration);
}

}  // namespace
}  // namespace hummer::s3::client_test
