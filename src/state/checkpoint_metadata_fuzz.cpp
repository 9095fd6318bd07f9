// Any bytes as a checkpoint's metadata: no crash, no allocation beyond what is there, and what is
// accepted is what the store would write.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <hummer/codec.hpp>

#include "state/checkpoint_store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto metadata = hummer::decode_metadata(bytes, "fuzz");
  if (!metadata.ok()) return 0;
  std::string again;
  hummer::ByteWriter out(again);
  hummer::Codec<hummer::CheckpointMetadata>::encode(*metadata, out);
  if (out.view() != bytes) std::abort();
  return 0;
}
