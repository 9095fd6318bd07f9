// What an object store answers in XML, as values.
//
// Errors: protocol_error for what is not the answer that was expected. Pure; thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/s3/client.hpp>
#include <hummer/status.hpp>

namespace hummer::s3 {

// <Error>: both empty where it is none.
struct ErrorAnswer {
  std::string code;
  std::string message;
};
ErrorAnswer read_error(std::string_view body);

Result<Listing> read_listing(std::string_view body);
// The id.
Result<std::string> read_begun_upload(std::string_view body);

template <typename T>
struct Page {
  std::vector<T> entries;
  std::string next;  // for the next page; empty: this was the last
  std::string next_upload;
};
// Their buckets are left empty.
Result<Page<Upload>> read_uploads(std::string_view body);
Result<Page<Part>> read_parts(std::string_view body);

// Of an object that could not be removed; empty: all were.
Result<std::string> read_removed(std::string_view body);

std::string completion_body(const std::vector<Part>& parts);
std::string removal_body(const std::vector<std::string>& keys);

// "2026-11-26T10:29:46.123Z", and "Thu, 26 Nov 2026 10:29:46 GMT"; 0: neither.
std::int64_t parse_time_ms(std::string_view text);

}  // namespace hummer::s3
