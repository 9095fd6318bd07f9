#include "xml.hpp"

#include <gtest/gtest.h>

namespace hummer::s3::xml_test {
namespace {

TEST(S3Xml, ElementsTextAndReferences) {
  const auto root = parse_xml(
      "\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!-- c --><s3:List xmlns:s3='http://x/' a=\"<>\">\n"
      "<Key>a&amp;b &#65;&#x20AC;</Key><Empty/><Key><![CDATA[<raw>&amp;]]></Key></s3:List>\n");
  ASSERT_TRUE(root.ok()) << root.status().to_string();
  EXPECT_EQ(root->name, "List");
  ASSERT_EQ(root->children.size(), 3u);
  EXPECT_EQ(root->text_of("Key"), "a&b A\xE2\x82\xAC");
  EXPECT_EQ(root->text_of("Empty"), "");
  EXPECT_EQ(root->children[2].text, "<raw>&amp;");
}

TEST(S3Xml, WhatIsNotXmlIsRefused) {
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "<a>";
  for (const std::string& text :
       {std::string(), std::string("text"), std::string("<a>"), std::string("<a></b>"),
        std::string("<a/><b/>"), std::string("<a b></a>"), std::string("<a b=c></a>"),
        std::string("<a>&unknown;</a>"), std::string("<a>&#0;</a>"), std::string("<a>&#xD800;</a>"),
        std::string("<a>&#1114112;</a>"), std::string("<a>&amp</a>"), std::string("<a"),
        std::string("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"), std::string("<a><![CDATA[</a>"),
        deep}) {
    EXPECT_EQ(parse_xml(text).status().code(), ErrorCode::protocol_error) << text;
  }
}

TEST(S3Xml, EscapedTextIsReadAsItWas) {
  const std::string text = "a<b>&\"c'\r\n";
  const auto root = parse_xml("<a>" + xml_escaped(text) + "</a>");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->text, text);
}

}  // namespace
}  // namespace hummer::s3::xml_test
