// Any bytes as a shuffle file: no crash, no read past the input, nothing allocated beyond a small
// multiple of it. The checks of index and footer are put right where the input asks for it: no
// change of one agrees with them, and what is behind would never be reached.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <hummer/detail/key_hash.hpp>

#include "net/block_reader.hpp"
#include "platform/memory_file_for_test.hpp"
#include "shuffle/shuffle_file.hpp"

namespace {

constexpr std::size_t footer_bytes = 64;

std::uint64_t number_at(const std::string& bytes, std::size_t at) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

void put_number(std::string& bytes, std::size_t at, std::uint64_t number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

void put_checks_right(std::string& bytes) {
  if (bytes.size() < footer_bytes) return;
  const std::size_t footer = bytes.size() - footer_bytes;
  const std::uint64_t index = number_at(bytes, footer + 24);
  if (index <= footer) {
    put_number(bytes, footer + 32, hummer::hash_bytes(bytes.data() + index, footer - index));
  }
  put_number(bytes, footer + 56, hummer::hash_bytes(bytes.data() + footer, 56));
}

void read_blocks(std::string_view chunk) {
  hummer::BlockReader reader(hummer::type_of<std::string_view>(), 1 << 20);
  const hummer::BufferRef buffer = hummer::BufferRef::allocate(chunk.size());
  std::memcpy(buffer->data(), chunk.data(), chunk.size());
  reader.start({.buffer = buffer, .bytes = {buffer->data(), chunk.size()}});
  hummer::Batch batch;
  hummer::Control control;
  while (!reader.finished()) {
    if (!reader.next(batch, control).ok()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((data[0] & 1) != 0) put_checks_right(bytes);
  const auto file = hummer::ShuffleFile::open(std::make_unique<hummer::MemoryFile>(bytes));
  if (!file.ok()) return 0;
  for (std::uint32_t i = 0; i < std::min((*file)->partitions(), 64u); ++i) {
    for (const hummer::ChunkEntry& entry : (*file)->chunks(i)) {
      std::string chunk(entry.bytes, '\0');
      if ((*file)->read(entry, chunk).ok()) read_blocks(chunk);
    }
  }
  return 0;
}
