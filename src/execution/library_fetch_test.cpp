#include "execution/library_fetch.hpp"

#include <gtest/gtest.h>

namespace hummer::library_fetch_test {
namespace {

constexpr std::uint64_t hash = 0xabc;

wire::LibraryPiece piece_of(const std::string& library, std::size_t offset, std::size_t bytes) {
  wire::LibraryPiece piece;
  piece.set_hash(hash);
  piece.set_offset(offset);
  piece.set_total_bytes(library.size());
  piece.set_bytes(library.substr(offset, bytes));
  return piece;
}

TEST(LibraryFetch, IsPulledByOffset) {
  const std::string library = "0123456789";
  LibraryFetch fetch;
  EXPECT_EQ(fetch.next_request(), never);
  fetch.want(hash, library.size());
  for (std::size_t offset = 0; offset < library.size(); offset += 4) {
    EXPECT_EQ(*fetch.result(hash), nullptr);
    const auto requests = fetch.requests(100);
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_EQ(requests[0].hash(), hash);
    EXPECT_EQ(requests[0].offset(), offset);
    EXPECT_TRUE(fetch.requests(100).empty()) << "one request at a time";
    EXPECT_TRUE(fetch.take(piece_of(library, offset, 4)));
  }
  const Result<LibraryBytes> bytes = fetch.result(hash);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(**bytes, library);
  EXPECT_EQ(fetch.next_request(), never);
}

TEST(LibraryFetch, AsksAgainAfterATimeAndDropsWhatIsNotNext) {
  const std::string library = "0123456789";
  LibraryFetch fetch;
  fetch.want(hash, library.size());
  EXPECT_EQ(fetch.requests(0).size(), 1u);
  EXPECT_EQ(fetch.next_request(), library_piece_timeout_ns);
  EXPECT_TRUE(fetch.requests(library_piece_timeout_ns - 1).empty());
  EXPECT_EQ(fetch.requests(library_piece_timeout_ns).size(), 1u);
  EXPECT_FALSE(fetch.take(piece_of(library, 5, 5)));
  EXPECT_TRUE(fetch.take(piece_of(library, 0, 5)));
  EXPECT_FALSE(fetch.take(piece_of(library, 0, 5))) << "repeated";
  EXPECT_FALSE(fetch.take(piece_of(library, 5, 0))) << "empty";
  EXPECT_EQ(fetch.requests(library_piece_timeout_ns)[0].offset(), 5u);
  fetch.connection_changed();
  EXPECT_EQ(fetch.requests(library_piece_timeout_ns)[0].offset(), 5u);
}

TEST(LibraryFetch, IsSharedWhileSomebodyHoldsIt) {
  const std::string library = "01234";
  LibraryFetch fetch;
  fetch.want(hash, library.size());
  fetch.want(hash, library.size());
  EXPECT_EQ(fetch.requests(0).size(), 1u);
  EXPECT_TRUE(fetch.take(piece_of(library, 0, 5)));
  LibraryBytes held = *fetch.result(hash);
  ASSERT_NE(held, nullptr);
  fetch.want(hash, library.size());
  EXPECT_TRUE(fetch.requests(0).empty());
  EXPECT_EQ(*fetch.result(hash), held);
  held.reset();
  EXPECT_EQ(*fetch.result(hash), nullptr);
  fetch.want(hash, library.size());
  EXPECT_EQ(fetch.requests(0).size(), 1u);
}

TEST(LibraryFetch, DropsWhatNobodyWants) {
  LibraryFetch fetch;
  fetch.want(hash, 5);
  fetch.keep_only({hash});
  EXPECT_EQ(fetch.requests(0).size(), 1u);
  fetch.keep_only({});
  EXPECT_EQ(fetch.next_request(), never);
  EXPECT_FALSE(fetch.take(piece_of("01234", 0, 5)));
}

TEST(LibraryFetch, FailuresAreGivenOnce) {
  LibraryFetch fetch;
  fetch.want(hash, 5);
  wire::LibraryPiece none;
  none.set_hash(hash);
  EXPECT_TRUE(fetch.take(none));
  EXPECT_EQ(fetch.result(hash).status().code(), ErrorCode::not_found);
  EXPECT_TRUE(fetch.result(hash).ok());

  fetch.want(hash, 5);
  EXPECT_TRUE(fetch.take(piece_of("0123456789", 0, 5)));
  EXPECT_EQ(fetch.result(hash).status().code(), ErrorCode::protocol_error);

  wire::LibraryPiece beyond = piece_of("01234", 0, 5);
  beyond.set_bytes("0123456");
  fetch.want(hash, 5);
  EXPECT_TRUE(fetch.take(beyond));
  EXPECT_EQ(fetch.result(hash).status().code(), ErrorCode::protocol_error);

  fetch.want(hash, max_library_bytes + 1);
  EXPECT_TRUE(fetch.requests(0).empty());
  EXPECT_EQ(fetch.result(hash).status().code(), ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace hummer::library_fetch_test
