// Answers of HTTP servers: the same is read or refused, in whatever pieces it comes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/http_answer.hpp"

namespace {

// -1: refused; 0: more is needed; else the status.
int read(std::string_view text, std::size_t piece, std::string& body) {
  hummer::HttpAnswerReader reader;
  while (!text.empty()) {
    const std::size_t count = std::min(piece, text.size());
    const hummer::Result<bool> whole = reader.take(text.substr(0, count));
    if (!whole.ok()) return -1;
    if (*whole) {
      hummer::HttpAnswer answer = reader.answer();
      body = std::move(answer.body);
      return answer.status;
    }
    text.remove_prefix(count);
  }
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string body, body_in_pieces;
  const int status = read(text, size, body);
  const int in_pieces = read(text, 1 + (size > 0 ? data[0] % 7 : 0), body_in_pieces);
  if (status > 0 && (status != in_pieces || body != body_in_pieces)) __builtin_trap();
  if (body.size() > size) __builtin_trap();
  return 0;
}
