#include <hummer/buffer.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace hummer::buffer_test {
namespace {

// Says when it goes.
class Watched final : public Buffer {
 public:
  Watched(char* data, std::size_t size, int& destroyed)
      : Buffer(data, size), destroyed_(destroyed) {}

 protected:
  ~Watched() override { ++destroyed_; }

 private:
  int& destroyed_;
};

TEST(BufferRef, TheLastReferenceDestroysIt) {
  int destroyed = 0;
  char bytes[4] = {};
  BufferRef first = BufferRef::adopt(new Watched(bytes, 4, destroyed));
  EXPECT_TRUE(first->unique());
  BufferRef second = first;
  EXPECT_FALSE(first->unique());
  BufferRef third = std::move(second);
  EXPECT_FALSE(static_cast<bool>(second));
  EXPECT_EQ(first, third);
  first = {};
  EXPECT_TRUE(third->unique());
  BufferRef& same = third;
  third = same;
  EXPECT_EQ(destroyed, 0);
  third = BufferRef::allocate(1);
  EXPECT_EQ(destroyed, 1);
}

TEST(BufferRef, ReadersMayLookPastTheEnd) {
  for (const std::size_t size : {0u, 1u, 4096u}) {
    const BufferRef buffer = BufferRef::allocate(size);
    EXPECT_EQ(buffer->size(), size);
    std::memset(buffer->data(), 'x', size);
    int sum = 0;
    for (std::size_t i = 0; i < read_slack_bytes; ++i) sum += buffer->data()[size + i];
    EXPECT_EQ(sum, 0);
  }
}

TEST(Buffer, ContainsItsOwnBytes) {
  const BufferRef buffer = BufferRef::allocate(8);
  EXPECT_TRUE(buffer->contains(buffer->data(), 8));
  EXPECT_TRUE(buffer->contains(buffer->data() + 8, 0));
  EXPECT_FALSE(buffer->contains(buffer->data() + 1, 8));
  char elsewhere = 0;
  EXPECT_FALSE(buffer->contains(&elsewhere, 1));
}

}  // namespace
}  // namespace hummer::buffer_test
