#include <hummer/batch.hpp>

#include <gtest/gtest.h>

#include <string>

#include <hummer/collector.hpp>

namespace hummer::batch_test {
namespace {

const std::string long_text = "a text longer than a short string";

template <typename T>
Batch batch_of(std::initializer_list<T> values, std::uint32_t capacity = 8) {
  Batch batch(type_of<T>(), capacity);
  Collector<T> collector(batch, capacity);
  for (const T& value : values) collector(value);
  return batch;
}

template <typename T>
std::vector<T> values_of(const Batch& batch) {
  return {batch.values<T>().begin(), batch.values<T>().end()};
}

TEST(Batch, StartsEmpty) {
  const Batch none;
  EXPECT_FALSE(none.has_storage() || none.unique() || none.has_timestamps());
  EXPECT_TRUE(none.empty() && none.finished() && none.values<int>().empty());
  EXPECT_EQ(none.memory_bytes(), 0u);
  const Batch empty(type_of<int>(), 0);
  EXPECT_TRUE(empty.has_storage() && empty.empty() && empty.unique());
  EXPECT_GE(empty.capacity(), 1u);
}

TEST(Batch, MovesCarryRecordsAndPosition) {
  Batch batch = batch_of<std::string>({"a", long_text});
  batch.advance_to(1);
  Batch moved = std::move(batch);
  EXPECT_FALSE(batch.has_storage());
  EXPECT_EQ(batch.position(), 0u);
  EXPECT_EQ(moved.position(), 1u);
  EXPECT_FALSE(moved.finished());
  Batch other = batch_of<std::string>({"b"});
  other = std::move(moved);
  EXPECT_EQ(values_of<std::string>(other), (std::vector<std::string>{"a", long_text}));
}

TEST(Batch, GrowthKeepsWhatIsThere) {
  Batch texts = batch_of<std::string>({"a", long_text}, 2);
  texts.reserve(100);
  EXPECT_GE(texts.capacity(), 100u);
  EXPECT_EQ(values_of<std::string>(texts), (std::vector<std::string>{"a", long_text}));
  Batch numbers = batch_of<int>({1, 2}, 2);
  numbers.reserve(1);
  EXPECT_EQ(numbers.capacity(), 2u);
  numbers.reserve(3);
  EXPECT_EQ(values_of<int>(numbers), (std::vector<int>{1, 2}));
}

TEST(Batch, ClearKeepsTheMemoryOfAnUnsharedOne) {
  Batch batch = batch_of<std::string>({"a", long_text});
  batch.timestamps() = {1, 2};
  batch.advance_to(2);
  const void* const memory = batch.raw_values();
  batch.clear();
  EXPECT_TRUE(batch.empty() && !batch.has_timestamps());
  EXPECT_EQ(batch.position(), 0u);
  EXPECT_EQ(batch.raw_values(), memory);
}

TEST(Batch, SharedRecordsAreReadOnlyUntilOneHandleIsLeft) {
  Batch batch = batch_of<int>({1, 2});
  batch.timestamps() = {10, 20};
  batch.advance_to(1);
  Batch other = batch.share();
  EXPECT_FALSE(batch.unique() || other.unique());
  EXPECT_EQ(other.position(), 0u) << "at their start";
  EXPECT_EQ(other.raw_values(), batch.raw_values());
  batch.clear();
  EXPECT_FALSE(batch.has_storage()) << "what is shared is let go of";
  EXPECT_TRUE(other.unique());
  EXPECT_EQ(values_of<int>(other), (std::vector<int>{1, 2}));
  EXPECT_FALSE(Batch().share().has_storage());
}

TEST(Batch, MakeUniqueCopies) {
  Batch batch = batch_of<std::string>({"a", long_text});
  batch.timestamps() = {1, 2};
  Batch other = batch.share();
  other.advance_to(1);
  ASSERT_TRUE(other.make_unique());
  EXPECT_TRUE(batch.unique() && other.unique());
  EXPECT_EQ(other.position(), 1u);
  EXPECT_EQ(other.timestamps(), (std::vector<Timestamp>{1, 2}));
  other.mutable_values<std::string>()[1] = "changed";
  EXPECT_EQ(batch.values<std::string>()[1], long_text);
  const void* const memory = other.raw_values();
  ASSERT_TRUE(other.make_unique());
  EXPECT_EQ(other.raw_values(), memory) << "it is alone already";
}

TEST(Batch, MakeUniqueKeepsTheBuffersOfViews) {
  Batch batch(type_of<std::string_view>(), 1);
  {
    Collector<std::string_view> collector(batch, 1);
    collector(long_text);
  }
  batch.mutable_values<std::string_view>()[0] = batch.copy_text(long_text);
  Batch other = batch.share();
  ASSERT_TRUE(other.make_unique());
  batch.release();
  EXPECT_EQ(other.values<std::string_view>()[0], long_text);
}

// A buffer that is overwritten when nobody keeps it any more.
TEST(Batch, KeptBuffersLiveAsLongAsTheBatch) {
  BufferRef buffer = BufferRef::allocate(long_text.size());
  std::copy(long_text.begin(), long_text.end(), buffer->data());
  Batch batch(type_of<std::string_view>(), 1);
  Batch next(type_of<std::string_view>(), 1);
  batch.keep(buffer);
  batch.keep(buffer);
  EXPECT_EQ(batch.kept_buffers().size(), 1u);
  next.keep_buffers_of(batch);
  EXPECT_FALSE(buffer->unique());
  batch.clear();
  EXPECT_FALSE(buffer->unique());
  EXPECT_TRUE(batch.kept_buffers().empty());
  next.clear();
  EXPECT_TRUE(buffer->unique());
}

TEST(Batch, TextIsCopiedIntoItsArena) {
  Batch batch(type_of<std::string_view>(), 8);
  std::vector<std::string_view> copies;
  const std::string large(100'000, 'x');
  for (const std::string_view text : {std::string_view(long_text), std::string_view(),
                                      std::string_view(large), std::string_view("small")}) {
    copies.push_back(batch.copy_text(text));
    EXPECT_EQ(copies.back(), text);
  }
  EXPECT_EQ(copies[0], long_text);
  EXPECT_EQ(copies[2], large);
  EXPECT_GE(batch.memory_bytes(), 16u << 10);
  batch.clear();
  const std::string_view again = batch.copy_text("again");
  EXPECT_EQ(again, "again");
}

TEST(Batch, AnArenaThatSomebodyKeepsIsNotWrittenAgain) {
  Batch batch(type_of<std::string_view>(), 1);
  const std::string_view text = batch.copy_text(long_text);
  Batch next(type_of<std::string_view>(), 1);
  next.keep_buffers_of(batch);
  batch.clear();
  (void)batch.copy_text(std::string(long_text.size(), '!'));
  EXPECT_EQ(text, long_text);
}

TEST(Batch, AdoptsValuesInPlace) {
  BufferRef buffer = BufferRef::allocate(4 * sizeof(int));
  auto* numbers = reinterpret_cast<int*>(buffer->data());
  for (int i = 0; i < 4; ++i) numbers[i] = i * i;
  Batch batch = Batch::adopt(type_of<int>(), buffer, numbers, 4);
  EXPECT_EQ(values_of<int>(batch), (std::vector<int>{0, 1, 4, 9}));
  EXPECT_EQ(batch.raw_values(), numbers);
  EXPECT_FALSE(buffer->unique());
  batch.reserve(8);
  EXPECT_EQ(values_of<int>(batch), (std::vector<int>{0, 1, 4, 9}));
  EXPECT_TRUE(buffer->unique()) << "grown out of it";
  Batch other = Batch::adopt(type_of<int>(), buffer, numbers, 2);
  other.clear();
  EXPECT_FALSE(other.has_storage());
  EXPECT_TRUE(buffer->unique());
}

TEST(BatchDeathTest, WritingToSharedRecordsIsOurMistake) {
  Batch batch = batch_of<int>({1});
  const Batch other = batch.share();
  EXPECT_DEATH(batch.mutable_values<int>(), "unique");
}

TEST(Collector, GrowsBeyondTheLimitForOneRecord) {
  Batch batch(type_of<int>(), 2);
  Collector<int> collector(batch, 2);
  for (int i = 0; i < 100; ++i) collector(i);
  EXPECT_TRUE(collector.full());
  collector.commit();
  ASSERT_EQ(batch.size(), 100u);
  EXPECT_EQ(batch.values<int>()[99], 99);
}

}  // namespace
}  // namespace hummer::batch_test
