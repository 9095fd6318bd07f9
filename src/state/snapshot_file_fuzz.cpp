// Any bytes as a snapshot file: no crash, no allocation beyond what is there, and what is accepted
// is what a writer would write. Once as they are, and once with their checks put right: hardly any
// change of a file agrees with them, and what lies behind would never be reached.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/key_hash.hpp>

#include "platform/memory_file_for_test.hpp"
#include "state/snapshot_file.hpp"

namespace {

using namespace hummer;

template <typename T>
T number_at(const std::string& bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
void put_number(std::string& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// See docs/checkpoint_format.md. Of an index that lies in one block.
void put_checks(std::string& bytes, std::size_t at, std::size_t end,
                const std::vector<std::uint64_t>& checks) {
  for (std::size_t next = 0; end - at >= 8;) {
    const auto uid = number_at<std::uint32_t>(bytes, at);
    if (uid > end - at - 8) return;
    auto blocks = number_at<std::uint32_t>(bytes, at + 4 + uid);
    at += 8 + uid;
    for (; blocks > 0 && end - at >= 20 && next < checks.size(); --blocks, at += 20) {
      put_number(bytes, at + 12, checks[next++]);
    }
    if (blocks > 0) return;
  }
}

std::string with_right_checks(std::string bytes) {
  constexpr std::size_t head = 64, block_head = 24, end = 3, index = 4;
  if (bytes.size() < head) return bytes;
  put_number(bytes, head - 8, hash_bytes(bytes.data(), head - 8));
  std::uint64_t blocks = 0, payload_bytes = 0, hash = 0, index_at = 0;
  std::vector<std::uint64_t> checks;
  std::size_t at = head;
  while (bytes.size() - at >= block_head) {
    const auto kind = number_at<std::uint32_t>(bytes, at);
    const auto uid = number_at<std::uint32_t>(bytes, at + 4);
    const auto payload = number_at<std::uint64_t>(bytes, at + 8);
    const std::size_t left = bytes.size() - at - block_head;
    if (uid > left || payload > left - uid) break;
    const std::size_t rest = at + block_head;
    if (kind == end && (payload == 24 || payload == 32) && uid == 0) {
      put_number(bytes, rest, blocks);
      put_number(bytes, rest + 8, payload_bytes);
      put_number(bytes, rest + 16, hash);
      if (payload == 32) put_number(bytes, rest + 24, index_at == 0 ? at : index_at);
    }
    if (kind == index && uid == 0) {
      if (index_at == 0) index_at = at;
      put_checks(bytes, rest, rest + payload, checks);
    }
    std::string checked = bytes.substr(at, 16) + std::string(8, '\0');
    put_number(checked, 16, hash_bytes(bytes.data() + rest, uid + payload));
    const std::uint64_t check = hash_bytes(checked.data(), checked.size());
    put_number(bytes, at + 16, check);
    const std::uint64_t both[2] = {hash, check};
    hash = hash_bytes(both, sizeof both);
    checks.push_back(check);
    ++blocks;
    payload_bytes += payload;
    at = rest + uid + payload;
  }
  return bytes;
}

void read_by_index(const std::string& bytes, bool is_whole) {
  auto reader = SnapshotFileReader::open(std::make_unique<MemoryFile>(bytes));
  if (!reader.ok()) return;
  const auto index = reader->read_index();
  if (!index.ok()) {
    if (is_whole) std::abort();
    return;
  }
  if (!*index) return;
  if (reader->summary().bytes != bytes.size()) std::abort();
  std::size_t total = 0;
  for (const SnapshotIndex::Piece& piece : (*index)->pieces) {
    for (const SnapshotIndex::Block& block : piece.blocks) {
      reader->go_to(block.at);
      reader->read_ahead_until(SnapshotFileReader::end_of_block(block.at, piece.uid, block.bytes));
      SnapshotPart part;
      const Result<bool> more = reader->next_part(part);
      if (!more.ok() || !*more) continue;
      total += part.bytes.size();
      if (total > bytes.size()) std::abort();
    }
  }
}

void read(const std::string& bytes) {
  auto reader = SnapshotFileReader::open(std::make_unique<MemoryFile>(bytes));
  if (!reader.ok()) return;
  std::string uid;
  std::string piece;
  std::size_t total = 0;
  for (;;) {
    const Result<bool> more = reader->next(uid, piece, 16 << 20);
    if (!more.ok()) return;
    if (!*more) break;
    total += piece.size();
    if (total > bytes.size() || uid.size() > max_snapshot_uid_bytes) std::abort();
  }
  if (reader->summary().bytes != bytes.size()) std::abort();
  // What is whole when it is read from front to back is whole by its index, too.
  read_by_index(bytes, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& each : {bytes, with_right_checks(bytes)}) {
    read(each);
    read_by_index(each, false);
  }
  return 0;
}
