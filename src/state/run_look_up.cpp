#include "state/run_look_up.hpp"

#include <algorithm>

namespace hummer {
namespace {

// To copy so much takes about as long as a call that reads.
constexpr std::size_t most_between = 8 << 10;
constexpr std::size_t most_at_once = 128 << 10;
constexpr std::size_t expected_ahead = 8;  // keys whose part of filter and index is on its way

// A key that the run may have, and the first block where it may be.
struct KeyPlace {
  std::uint32_t at;  // in `left`
  std::uint32_t block;
};

// Some blocks of a run, read at once. Keys are looked up in their order.
class ReadBlocks {
 public:
  ReadBlocks(const SpilledRun& run, std::size_t first, std::size_t end, std::string& space)
      : run_(run), first_(first), end_(end), space_(space) {}

  Status read() { return run_.read_unchecked(first_, end_, space_); }
  Result<bool> find(std::size_t block, std::uint64_t hash, std::string_view key,
                    SpilledEntry& entry) {
    for (; block < run_.block_count() && run_.hash_of_block(block) <= hash; ++block) {
      // Behind what was read: of several blocks that begin with this hash.
      if (block >= end_) return run_.find(hash, key, further_space_, entry);
      const std::string_view bytes = run_.part_of(space_, first_, block);
      if (block != in_hand_) {
        HUMMER_TRY(run_.check_block(block, bytes));
        in_hand_ = block;
        from_ = 0;
      }
      if (run_.find_in_block(bytes, from_, hash, key, entry)) return true;
    }
    return false;
  }

 private:
  const SpilledRun& run_;
  const std::size_t first_;
  const std::size_t end_;
  std::string& space_;
  std::string further_space_;
  std::size_t in_hand_ = SIZE_MAX;
  std::size_t from_ = 0;  // within it: behind the last entry that was found
};

}  // namespace

Status look_up_in_run(
    const SpilledRun& run, const MissingKeys& keys, std::vector<std::uint32_t>& left,
    std::string& space,
    const std::function<void(std::uint32_t key, const SpilledEntry& entry)>& found) {
  std::vector<KeyPlace> places;
  for (std::uint32_t at = 0; at < left.size(); ++at) {
    if (at + expected_ahead < left.size()) run.expect(keys.hash(left[at + expected_ahead]));
    const std::uint64_t hash = keys.hash(left[at]);
    if (run.first_hash() > hash || run.last_hash() < hash || !run.may_have(hash)) continue;
    places.push_back({at, static_cast<std::uint32_t>(run.block_before(hash))});
  }
  constexpr std::uint32_t gone = UINT32_MAX;
  for (std::size_t first = 0; first < places.size();) {
    // Places whose blocks are read at once.
    std::size_t end = first + 1;
    const std::size_t first_block = places[first].block;
    std::size_t end_block = first_block + 1;
    const std::uint64_t begin_offset = run.offset_of_block(first_block);
    while (end < places.size()) {
      const std::size_t next = places[end].block;
      if (next >= end_block &&
          (run.offset_of_block(next) > run.offset_of_block(end_block) + most_between ||
           run.offset_of_block(next + 1) > begin_offset + most_at_once)) {
        break;
      }
      end_block = std::max(end_block, next + 1);
      ++end;
    }
    ReadBlocks blocks(run, first_block, end_block, space);
    HUMMER_TRY(blocks.read());
    for (; first < end; ++first) {
      const KeyPlace& place = places[first];
      const std::uint32_t key = left[place.at];
      SpilledEntry entry;
      const Result<bool> here = blocks.find(place.block, keys.hash(key), keys.bytes(key), entry);
      if (!here.ok()) return here.status();
      if (!*here) continue;
      found(key, entry);
      left[place.at] = gone;
    }
  }
  std::erase(left, gone);
  return {};
}

}  // namespace hummer
