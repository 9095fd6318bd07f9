// Places and what goes with a connection, as a peer that is no Hummer may send them: whatever
// comes, nothing is read beyond it, and what is made of it keeps its limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "rdma/fabric_place.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto place = parse_fabric_place(input)) {
    require(place->provider.size() <= FabricPlace::max_provider_bytes);
    require(place->name.size() <= FabricPlace::max_name_bytes);
    require(place->address.empty() || place->address.size() == 6 || place->address.size() == 18);
    require(to_text(*place) == input);
  }
  if (const auto memory = decode_peer_memory(input)) {
    require(input.starts_with(encode_peer_memory(*memory)));
  }
  if (const auto offer = decode_offer(input)) {
    require(input.starts_with(encode_offer(*offer)));
  }
  return 0;
}
