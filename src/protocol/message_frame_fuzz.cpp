// Bytes of a stranger through the frame decoder: whole, in pieces, and as payloads of frames that
// are sealed rightly. The way in which they arrive must not matter.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/message_frame.hpp"
#include "protocol/message_limits.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// What each message says; ends with "refused" when the decoder refused.
std::vector<std::string> decode(std::string_view bytes, std::size_t piece) {
  hummer::FrameDecoder decoder(1 << 16);
  std::vector<std::string> seen;
  while (!bytes.empty()) {
    std::string_view arrived = bytes.substr(0, piece);
    bytes.remove_prefix(arrived.size());
    while (true) {
      hummer::wire::Envelope message;
      const hummer::Result<bool> whole = decoder.next(arrived, message);
      if (!whole.ok()) {
        seen.emplace_back("refused");
        return seen;
      }
      if (!*whole) break;
      seen.push_back(message.SerializeAsString());
    }
    require(arrived.empty());
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> whole = decode(bytes, bytes.size());
  require(decode(bytes, 1) == whole);
  require(decode(bytes, 13) == whole);

  hummer::wire::Envelope message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  std::string frames;
  if (!hummer::append_frame(message, frames).ok()) return 0;
  frames += frames;
  const std::vector<std::string> two = decode(frames, 7);
  if (message.ByteSizeLong() > 1 << 16) return 0;
  require(two.size() == 2 && two[0] == two[1] && two[0] == message.SerializeAsString());
  return 0;
}
