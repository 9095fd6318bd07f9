// Targets of HTTP requests: whatever comes is taken apart or refused, and what was taken apart
// is found again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/http_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view target(reinterpret_cast<const char*>(data), size);
  hummer::HttpRequest request;
  if (!hummer::parse_http_target(target, request)) return 0;
  if (!request.path.starts_with('/')) __builtin_trap();
  if (request.path.size() > size) __builtin_trap();
  std::size_t length = 0;
  for (const auto& pair : request.query) length += pair.first.size() + pair.second.size();
  if (length > size) __builtin_trap();
  return 0;
}
