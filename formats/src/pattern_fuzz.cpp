// Any bytes as lines of a log: the same records whatever room there is, each bad line passed over
// once, and as many lines as there are. The first byte says which log and how much room.
#include <algorithm>

#include "decoded_for_test.hpp"
#include "pattern_decoder.hpp"

namespace {

struct Fields {
  std::optional<std::int64_t> time;
  std::string_view host;
  std::optional<std::int32_t> pid;
  std::optional<double> size;
  std::optional<std::string> message;
};

std::string show(const Fields& fields) {
  return std::to_string(fields.time.value_or(-1)) + "|" + std::string(fields.host) + "|" +
         std::to_string(fields.pid.value_or(-1)) + "|" + std::to_string(fields.size.value_or(-1)) +
         "|" + fields.message.value_or("-");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer::formats;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const std::shared_ptr<const Format> logs[] = {
      common_log(), combined_log(), syslog_rfc3164(2026, -90), syslog_rfc5424(),
      pattern("(?P<host>[^ ]*) ?(?P<pid>.*)", {.utf8 = true})};
  const Format& log = *logs[data[0] % std::size(logs)];
  const std::size_t limit = data[0] >> 5 == 0 ? 1024 : data[0] >> 5;
  const auto wide = log.make_decoder(shape_of<Fields>());
  const auto narrow = log.make_decoder(shape_of<Fields>());
  const DecodedText found = decode_all<Fields>(*wide, text, 1024, true, &show);
  if (found != decode_all<Fields>(*narrow, text, limit, false, &show)) __builtin_trap();
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    lines += line.empty() || line == "\r" ? 0 : 1;
    at = end + 1;
  }
  if (found.records.size() + found.bad.size() != lines) __builtin_trap();
  return 0;
}
