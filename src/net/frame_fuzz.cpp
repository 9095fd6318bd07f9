// Bytes from a stranger: frame headers, handshakes, failures, and runs of blocks
// read as three types. Nothing may be read beyond the input, and nothing may be
// allocated beyond a small multiple of it.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "net/block_reader.hpp"
#include "net/frame.hpp"

namespace {

template <typename T>
void read_blocks(const hummer::BufferRef& buffer) {
  hummer::BlockReader reader(hummer::type_of<T>(), 1 << 20);
  reader.start({buffer, {buffer->data(), buffer->size()}});
  hummer::Batch batch;
  hummer::Control control;
  while (!reader.finished()) {
    if (!reader.next(batch, control).ok()) return;
    (void)reader.control_follows();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hummer::BufferRef buffer = hummer::BufferRef::allocate(size);
  if (size != 0) std::memcpy(buffer->data(), data, size);
  const std::string_view bytes(buffer->data(), size);
  (void)hummer::decode_hello(bytes);
  (void)hummer::decode_failure(bytes);
  (void)hummer::decode_fetch(bytes);
  if (size >= hummer::frame_header_bytes) {
    (void)hummer::read_frame_header(buffer->data(), 65536);
    // Past the check, which no mutation guesses.
    hummer::FrameHeader header;
    std::memcpy(&header, buffer->data(), sizeof header);
    char sealed[hummer::frame_header_bytes];
    hummer::write_frame_header(header, sealed);
    (void)hummer::read_frame_header(sealed, 65536);
  }
  read_blocks<std::uint64_t>(buffer);
  read_blocks<std::string_view>(buffer);
  read_blocks<std::tuple<std::string, std::vector<std::string_view>, double>>(buffer);
  return 0;
}
