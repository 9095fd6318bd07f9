// XML as object stores answer it: elements and text, read into a tree.
//
//   Result<XmlElement> root = parse_xml(bytes);
//   for (const XmlElement& each : root->children) if (each.name == "Contents") …
//
// Read are elements, attributes (and passed over), text, CDATA, comments, instructions, and the
// five named and all numeric references. A document type is refused, so nothing can be defined that
// grows, and so is what is deeper than 16 elements, or has more than 200,000 of them. Names keep no
// prefix ("s3:Key" is "Key").
//
// Errors: protocol_error, with the byte. Pure; thread: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer::s3 {

struct XmlElement {
  std::string name;
  std::string text;  // of it, without that of its children
  std::vector<XmlElement> children;

  // The text of the first child of this name; empty: there is none.
  std::string_view text_of(std::string_view child) const;
};

Result<XmlElement> parse_xml(std::string_view bytes);

// With what has a meaning in XML as references.
std::string xml_escaped(std::string_view text);

}  // namespace hummer::s3
