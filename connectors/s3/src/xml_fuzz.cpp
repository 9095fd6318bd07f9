// What an object store answers: XML, and the values that are made of it; and the files of a
// profile, and what a sink finds in a checkpoint.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answers.hpp"
#include "credentials.hpp"
#include "upload_handle.hpp"
#include "xml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer;
  using namespace hummer::s3;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Result<XmlElement> root = parse_xml(input);
  if (root.ok()) {
    const Result<XmlElement> again = parse_xml("<a>" + xml_escaped(root->text) + "</a>");
    HUMMER_ASSERT(again.ok() && again->text == root->text);
  }
  (void)read_error(input);
  (void)read_listing(input);
  (void)read_begun_upload(input);
  (void)read_uploads(input);
  (void)read_parts(input);
  (void)read_removed(input);
  (void)parse_time_ms(input);
  (void)profile_values(input, "default");
  if (const Result<UploadHandle> handle = decode_handle(input); handle.ok()) {
    HUMMER_ASSERT(encode(*handle) == input);
  }
  return 0;
}
