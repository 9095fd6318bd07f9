#include "writable_form.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hummer::hadoop {
namespace {

std::string written(WritableForm form, const std::string& content) {
  char head[most_head_bytes];
  return std::string(head, write_head(form, content.size(), head)) + content;
}

TEST(WritableForm, AHeadGoesInFrontOfAContent) {
  EXPECT_EQ(written(WritableForm::plain, "ab"), "ab");
  EXPECT_EQ(written(WritableForm::text, "ab"),
            "\x02"
            "ab");
  EXPECT_EQ(written(WritableForm::counted, "ab"), std::string("\0\0\0\x02"
                                                              "ab",
                                                              6));
  for (const auto form : {WritableForm::plain, WritableForm::text, WritableForm::counted}) {
    for (const std::size_t size : {0U, 1U, 127U, 128U, 70'000U}) {
      const std::string content(size, 'x');
      EXPECT_EQ(content_of(form, written(form, content)), content);
    }
  }
}

TEST(WritableForm, AContentIsNoMoreThanThereIs) {
  EXPECT_EQ(content_of(WritableForm::text, ""), "");
  EXPECT_EQ(content_of(WritableForm::text, "\x8C"), "");
  EXPECT_EQ(content_of(WritableForm::counted, "\xFF\xFF"), "");
}

TEST(WritableForm, IsThatOfTheClass) {
  EXPECT_EQ(writable_form_of("org.apache.hadoop.io.Text"), WritableForm::text);
  EXPECT_EQ(writable_form_of("org.apache.hadoop.io.BytesWritable"), WritableForm::counted);
  EXPECT_EQ(writable_form_of("org.apache.hadoop.io.LongWritable"), WritableForm::plain);
  EXPECT_EQ(writable_form_of("Text"), WritableForm::plain);
}

}  // namespace
}  // namespace hummer::hadoop
