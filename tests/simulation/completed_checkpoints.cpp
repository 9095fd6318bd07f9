#include "simulation/completed_checkpoints.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "checkpoint/snapshot_files.hpp"

namespace hummer::cluster_simulation {
namespace {

constexpr std::string_view metadata_name = "_metadata";
constexpr std::size_t head_bytes = 64;
constexpr std::size_t block_head_bytes = 24;
constexpr std::uint32_t piece_ends = 1;
constexpr std::uint32_t piece_goes_on = 2;

// The first bytes of all pieces in a state file, each as a bit.
std::uint64_t kinds_of_pieces(std::string_view file) {
  std::uint64_t kinds = 0;
  bool at_begin = true;
  file.remove_prefix(std::min(head_bytes, file.size()));
  while (file.size() > block_head_bytes) {
    std::uint32_t kind = 0;
    std::uint32_t uid_bytes = 0;
    std::uint64_t payload_bytes = 0;
    std::memcpy(&kind, file.data(), sizeof kind);
    std::memcpy(&uid_bytes, file.data() + 4, sizeof uid_bytes);
    std::memcpy(&payload_bytes, file.data() + 8, sizeof payload_bytes);
    const std::size_t payload = block_head_bytes + uid_bytes;
    const bool belongs_to_piece = kind == piece_ends || kind == piece_goes_on;
    if (!belongs_to_piece || file.size() <= payload || file.size() - payload < payload_bytes) break;
    if (at_begin && payload_bytes > 0) kinds |= std::uint64_t{1} << (file[payload] & 63);
    at_begin = kind == piece_ends;
    file.remove_prefix(payload + payload_bytes);
  }
  return kinds;
}

}  // namespace

std::vector<std::string> CompletedCheckpoints::look(const SimulatedPlatform& node,
                                                    const std::string& directory) {
  std::vector<std::string> found;
  const auto files = node.files_below(directory);
  for (const auto& file : files) {
    if (!file.first.ends_with(metadata_name)) continue;
    const std::string path(file.first.substr(0, file.first.size() - metadata_name.size()));
    if (!path.ends_with('/') || !seen_.insert(path).second) continue;
    std::uint64_t kinds = 0;
    for (const auto& other : files) {
      if (other.first.starts_with(path) && other.first.ends_with(".state")) {
        kinds |= kinds_of_pieces(other.second);
      }
    }
    const auto has = [kinds](std::uint8_t kind) { return (kinds >> kind & 1) != 0; };
    with_deltas_ += has(piece_is_delta) || has(piece_is_delta | piece_ended) ? 1 : 0;
    with_records_in_flight_ += has(piece_in_flight) ? 1 : 0;
    found.push_back(path);
  }
  return found;
}

}  // namespace hummer::cluster_simulation
