#include "net/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "net/block_reader.hpp"

namespace hummer::frame_test {
namespace {

Hello some_hello() {
  Hello hello;
  hello.key = {7, 8, 9};
  hello.type_id = 11;
  hello.buffer_size_bytes = 65536;
  hello.credits = 16;
  hello.control_credits = 4;
  hello.token = "token";
  hello.type_name = "u64";
  hello.sender_name = "worker 3";
  return hello;
}

TEST(FrameTest, HelloComesBack) {
  const std::string frame = encode_hello(some_hello());
  EXPECT_EQ(frame.size() % 64, 0u);
  const Result<FrameHeader> header = read_frame_header(frame.data(), 0);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->kind, FrameKind::hello);
  EXPECT_EQ(header->frame_bytes(), frame.size());
  const Result<Hello> hello = decode_hello({frame.data() + 64, header->payload_bytes});
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello->key, some_hello().key);
  EXPECT_EQ(hello->type_id, 11u);
  EXPECT_EQ(hello->buffer_size_bytes, 65536u);
  EXPECT_EQ(hello->token, "token");
  EXPECT_EQ(hello->type_name, "u64");
  EXPECT_EQ(hello->sender_name, "worker 3");
}

TEST(FrameTest, CutHelloIsAProtocolError) {
  const std::string frame = encode_hello(some_hello());
  const Result<FrameHeader> header = read_frame_header(frame.data(), 0);
  ASSERT_TRUE(header.ok());
  for (std::size_t length = 0; length < header->payload_bytes; ++length) {
    const Result<Hello> hello = decode_hello({frame.data() + 64, length});
    ASSERT_FALSE(hello.ok()) << length;
    EXPECT_EQ(hello.status().code(), ErrorCode::protocol_error);
  }
}

TEST(FrameTest, FailureComesBack) {
  const std::string frame =
      encode_failure({ErrorCode::user_function_failed, std::string(10'000, 'x')});
  const Result<FrameHeader> header = read_frame_header(frame.data(), 0);
  ASSERT_TRUE(header.ok());
  const Status status = decode_failure({frame.data() + 64, header->payload_bytes});
  EXPECT_EQ(status.code(), ErrorCode::user_function_failed);
  EXPECT_GT(status.message().size(), 1000u);
}

TEST(FrameTest, EveryFlippedBitOfAHeaderIsNoticed) {
  const std::string frame = encode_credit(1000, 20);
  for (std::size_t bit = 0; bit < 8 * frame_header_bytes; ++bit) {
    std::string broken = frame;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << bit % 8));
    const Result<FrameHeader> header = read_frame_header(broken.data(), 1 << 20);
    ASSERT_FALSE(header.ok()) << "bit " << bit;
    EXPECT_EQ(header.status().code(), ErrorCode::protocol_error);
  }
}

TEST(FrameTest, EveryFlippedBitOfAPayloadIsNoticed) {
  const std::string frame = encode_hello(some_hello());
  const Result<FrameHeader> header = read_frame_header(frame.data(), 0);
  ASSERT_TRUE(header.ok());
  std::string payload = frame.substr(frame_header_bytes, header->payload_bytes);
  EXPECT_TRUE(check_payload(*header, payload).ok());
  for (std::size_t bit = 0; bit < 8 * payload.size(); ++bit) {
    payload[bit / 8] = static_cast<char>(payload[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(check_payload(*header, payload).code(), ErrorCode::protocol_error) << "bit " << bit;
    payload[bit / 8] = static_cast<char>(payload[bit / 8] ^ (1 << bit % 8));
  }
}

TEST(FrameTest, OversizedPayloadsAreRefused) {
  for (const FrameKind kind : {FrameKind::hello, FrameKind::data, FrameKind::control,
                               FrameKind::accept, FrameKind::credit, FrameKind::failure}) {
    FrameHeader header;
    header.kind = kind;
    header.payload_bytes = 1 << 20;
    char bytes[frame_header_bytes];
    write_frame_header(header, bytes);
    EXPECT_FALSE(read_frame_header(bytes, 65536 - 64).ok()) << static_cast<int>(kind);
  }
}

// Blocks, one after the other in 64-aligned memory.
struct Blocks {
  std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(1024);
  std::size_t used = 0;

  char* bytes() { return reinterpret_cast<char*>(memory.data()); }
  void add(BlockHeader header, std::string_view payload) {
    std::copy(payload.begin(), payload.end(), bytes() + used + block_header_bytes);
    seal_block(header, bytes() + used);
    used += header.block_bytes();
  }
  Received received() { return {{}, {bytes(), used}}; }
};

BlockHeader batch_of(std::uint32_t records, std::uint32_t values_bytes, std::uint64_t sequence) {
  BlockHeader header;
  header.records = records;
  header.values_bytes = values_bytes;
  header.sequence = sequence;
  return header;
}

Status read_all(const TypeDescriptor& type, Received received, std::size_t limit = 1000) {
  BlockReader reader(type, limit);
  reader.start(std::move(received));
  Batch batch;
  Control control;
  while (!reader.finished()) {
    const Result<BlockReader::Item> item = reader.next(batch, control);
    if (!item.ok()) return item.status();
  }
  return {};
}

TEST(BlockReaderTest, WrongSequenceIsNoticed) {
  Blocks run;
  run.add(control_block(Control::watermark(5), 0), {});
  run.add(control_block(Control::watermark(6), 2), {});
  EXPECT_EQ(read_all(type_of<std::string_view>(), run.received()).code(),
            ErrorCode::protocol_error);
}

TEST(BlockReaderTest, BytesThatAreNoRecordsAreNoticed) {
  Blocks too_few;
  too_few.add(batch_of(2, 8, 0), std::string_view("\4\0\0\0abcd", 8));
  EXPECT_EQ(read_all(type_of<std::string_view>(), too_few.received()).code(),
            ErrorCode::corrupt_record);
  Blocks too_many;
  too_many.add(batch_of(1, 9, 0), std::string_view("\4\0\0\0abcde", 9));
  EXPECT_EQ(read_all(type_of<std::string_view>(), too_many.received()).code(),
            ErrorCode::corrupt_record);
  Blocks not_bitwise;
  not_bitwise.add(batch_of(1, 8, 0), "12345678");
  EXPECT_EQ(read_all(type_of<std::uint64_t>(), not_bitwise.received()).code(),
            ErrorCode::corrupt_record);
  Blocks other_size;
  BlockHeader header = batch_of(1, 7, 0);
  header.flags = BlockHeader::bitwise;
  other_size.add(header, "1234567");
  EXPECT_EQ(read_all(type_of<std::uint64_t>(), other_size.received()).code(),
            ErrorCode::corrupt_record);
}

BlockHeader fragment(std::uint32_t values_bytes, std::uint64_t total, std::uint8_t flags,
                     std::uint64_t sequence) {
  BlockHeader header;
  header.kind = BlockKind::fragment;
  header.values_bytes = values_bytes;
  header.total_bytes = total;
  header.flags = flags;
  header.sequence = sequence;
  return header;
}

TEST(BlockReaderTest, FragmentsMustAddUp) {
  const TypeDescriptor& type = type_of<std::string_view>();
  Blocks whole;
  whole.add(fragment(4, 8, BlockHeader::first, 0), std::string_view("\4\0\0\0", 4));
  whole.add(fragment(4, 8, BlockHeader::last, 1), "abcd");
  EXPECT_TRUE(read_all(type, whole.received()).ok());
  Blocks beyond_limit;
  beyond_limit.add(fragment(4, 1 << 30, BlockHeader::first, 0), "abcd");
  EXPECT_EQ(read_all(type, beyond_limit.received()).code(), ErrorCode::limit_exceeded);
  Blocks no_first;
  no_first.add(fragment(4, 8, BlockHeader::last, 0), "abcd");
  EXPECT_EQ(read_all(type, no_first.received()).code(), ErrorCode::protocol_error);
  Blocks interrupted;
  interrupted.add(fragment(4, 8, BlockHeader::first, 0), "abcd");
  interrupted.add(control_block(Control::end(), 1), {});
  EXPECT_EQ(read_all(type, interrupted.received()).code(), ErrorCode::protocol_error);
  Blocks too_long;
  too_long.add(fragment(4, 8, BlockHeader::first, 0), "abcd");
  too_long.add(fragment(5, 8, BlockHeader::last, 1), "abcde");
  EXPECT_EQ(read_all(type, too_long.received()).code(), ErrorCode::protocol_error);
}

TEST(BlockReaderTest, CutBlocksAreNoticed) {
  Blocks run;
  run.add(batch_of(1, 8, 0), std::string_view("\4\0\0\0abcd", 8));
  for (std::size_t length = 1; length < run.used; ++length) {
    EXPECT_EQ(read_all(type_of<std::string_view>(), {{}, {run.bytes(), length}}).code(),
              ErrorCode::protocol_error);
  }
}

}  // namespace
}  // namespace hummer::frame_test
