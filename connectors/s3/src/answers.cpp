#include "answers.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>

#include "xml.hpp"

namespace hummer::s3 {
namespace {

Status not_expected(std::string_view expected, std::string_view got) {
  return {ErrorCode::protocol_error, "the store answers with <" + std::string(got.substr(0, 100)) +
                                         "> where <" + std::string(expected) + "> is expected"};
}

Result<XmlElement> read_root(std::string_view body, std::string_view name) {
  Result<XmlElement> root = parse_xml(body);
  if (root.ok() && root->name != name) return not_expected(name, root->name);
  return root;
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

ErrorAnswer read_error(std::string_view body) {
  const Result<XmlElement> root = parse_xml(body);
  if (!root.ok() || root->name != "Error") return {};
  return {std::string(root->text_of("Code").substr(0, 200)),
          std::string(root->text_of("Message").substr(0, 1000))};
}

Result<Listing> read_listing(std::string_view body) {
  const Result<XmlElement> root = read_root(body, "ListBucketResult");
  if (!root.ok()) return root.status();
  Listing listing;
  for (const XmlElement& each : root->children) {
    if (each.name == "Contents") {
      Object object;
      object.key = each.text_of("Key");
      object.etag = each.text_of("ETag");
      object.modified_ms = parse_time_ms(each.text_of("LastModified"));
      if (object.key.empty() || !read_number(each.text_of("Size"), object.size_bytes)) {
        return Status(ErrorCode::protocol_error, "the store lists an object without key or size");
      }
      listing.objects.push_back(std::move(object));
    } else if (each.name == "CommonPrefixes") {
      listing.prefixes.emplace_back(each.text_of("Prefix"));
    }
  }
  if (root->text_of("IsTruncated") == "true") {
    listing.next = root->text_of("NextContinuationToken");
    if (listing.next.empty()) {
      return Status(ErrorCode::protocol_error, "the store's list has no place to go on at");
    }
  }
  return listing;
}

Result<std::string> read_begun_upload(std::string_view body) {
  const Result<XmlElement> root = read_root(body, "InitiateMultipartUploadResult");
  if (!root.ok()) return root.status();
  std::string id(root->text_of("UploadId"));
  if (id.empty()) return Status(ErrorCode::protocol_error, "the store's upload has no id");
  return id;
}

Result<Page<Upload>> read_uploads(std::string_view body) {
  const Result<XmlElement> root = read_root(body, "ListMultipartUploadsResult");
  if (!root.ok()) return root.status();
  Page<Upload> page;
  for (const XmlElement& each : root->children) {
    if (each.name != "Upload") continue;
    Upload& upload = page.entries.emplace_back();
    upload.place.key = each.text_of("Key");
    upload.id = each.text_of("UploadId");
    upload.begun_ms = parse_time_ms(each.text_of("Initiated"));
  }
  if (root->text_of("IsTruncated") == "true") {
    page.next = root->text_of("NextKeyMarker");
    page.next_upload = root->text_of("NextUploadIdMarker");
  }
  return page;
}

Result<Page<Part>> read_parts(std::string_view body) {
  const Result<XmlElement> root = read_root(body, "ListPartsResult");
  if (!root.ok()) return root.status();
  Page<Part> page;
  for (const XmlElement& each : root->children) {
    if (each.name != "Part") continue;
    Part& part = page.entries.emplace_back();
    part.etag = each.text_of("ETag");
    if (!read_number(each.text_of("PartNumber"), part.number) ||
        !read_number(each.text_of("Size"), part.size_bytes)) {
      return Status(ErrorCode::protocol_error, "the store lists a part without number or size");
    }
  }
  if (root->text_of("IsTruncated") == "true") page.next = root->text_of("NextPartNumberMarker");
  return page;
}

Result<std::string> read_removed(std::string_view body) {
  const Result<XmlElement> root = read_root(body, "DeleteResult");
  if (!root.ok()) return root.status();
  for (const XmlElement& each : root->children) {
    if (each.name != "Error" || each.text_of("Code") == "NoSuchKey") continue;
    return "'" + std::string(each.text_of("Key")) + "': " + std::string(each.text_of("Code")) +
           ", " + std::string(each.text_of("Message"));
  }
  return std::string();
}

std::string completion_body(const std::vector<Part>& parts) {
  std::string body = "<CompleteMultipartUpload>";
  for (const Part& part : parts) {
    body += "<Part><PartNumber>" + std::to_string(part.number) + "</PartNumber><ETag>" +
            xml_escaped(part.etag) + "</ETag></Part>";
  }
  return body + "</CompleteMultipartUpload>";
}

std::string removal_body(const std::vector<std::string>& keys) {
  std::string body = "<Delete><Quiet>true</Quiet>";
  for (const std::string& key : keys) {
    body += "<Object><Key>" + xml_escaped(key) + "</Key></Object>";
  }
  return body + "</Delete>";
}

std::int64_t parse_time_ms(std::string_view text) {
  const std::string zero_ended(text.substr(0, 64));
  std::tm parts{};
  std::int64_t ms = 0;
  if (const char* rest = ::strptime(zero_ended.c_str(), "%Y-%m-%dT%H:%M:%S", &parts)) {
    if (*rest == '.') {
      const char* const end = zero_ended.data() + zero_ended.size();
      int fraction = 0;
      const auto read = std::from_chars(rest + 1, std::min(rest + 4, end), fraction);
      if (read.ec == std::errc() && read.ptr == rest + 4) ms = fraction;
    }
  } else if (::strptime(zero_ended.c_str(), "%a, %d %b %Y %H:%M:%S", &parts) == nullptr) {
    return 0;
  }
  return static_cast<std::int64_t>(::timegm(&parts)) * 1000 + ms;
}

}  // namespace hummer::s3
