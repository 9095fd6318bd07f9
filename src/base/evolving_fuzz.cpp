// Any bytes as the descriptions in front of a piece, and any two texts as names of types: no crash,
// every description is written as it was read, and a type always reads itself.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/evolving.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ByteReader in(bytes);
  std::vector<StateDescription> states;
  if (decode_states(in, states)) {
    std::string again;
    ByteWriter out(again);
    encode_states(states, out);
    if (out.view() != bytes.substr(0, size - in.left())) std::abort();
  }
  const std::size_t half = size / 2;
  (void)can_read_type(bytes.substr(0, half), bytes.substr(half));
  if (!can_read_type(bytes, bytes)) std::abort();
  return 0;
}
