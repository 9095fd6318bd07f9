#include "checkpoint/saved_keys.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <hummer/detail/key_hash.hpp>

#include "checkpoint/keyed_piece.hpp"
#include "checkpoint/snapshot_files.hpp"
#include "runtime/snapshot_piece.hpp"
#include "state/piece_reader.hpp"

namespace hummer {
namespace {

struct PlacedPiece {
  PiecePlace place;
  bool delta = false;
};
using Subtask = std::pair<std::string, std::uint32_t>;  // uid, number
using Pieces = std::map<Subtask, std::vector<PlacedPiece>>;

// Notes where the pieces lie that make up each operator's state now.
class PiecePlaces {
 public:
  void begin_file(const CheckpointFile& file, std::string path) {
    subtask_ = file.subtask;
    path_ = std::move(path);
    piece_ = {};
  }
  Status add(const SnapshotPart& part) {
    if (piece_.place.path.empty()) {
      piece_.place.path = path_;
      piece_.place.uid = part.uid;
      piece_.place.at = part.at;
      kind_ = part.bytes.empty() ? 0xFF : static_cast<std::uint8_t>(part.bytes[0]);
    }
    piece_.place.bytes += part.bytes.size();
    if (!part.last) return {};
    const PlacedPiece piece = std::exchange(piece_, {});
    if (kind_ > piece_in_flight) {
      return {ErrorCode::corrupt_file, "snapshot file '" + path_ + "': the piece '" +
                                           std::string(part.uid) + "' does not say what it is"};
    }
    if (kind_ == piece_in_flight) return {};
    std::vector<PlacedPiece>& all = pieces[{std::string(part.uid), subtask_}];
    // A whole piece stands for those before it.
    if ((kind_ & piece_is_delta) == 0) all.clear();
    all.push_back(piece);
    all.back().delta = (kind_ & piece_is_delta) != 0;
    return {};
  }
  Pieces pieces;

 private:
  std::uint32_t subtask_ = 0;
  std::string path_;
  PlacedPiece piece_;
  std::uint8_t kind_ = 0;
};

// 128 bits: two keys that are taken for one do not happen.
struct KeyMark {
  std::uint64_t first;
  std::uint64_t second;
  friend auto operator<=>(const KeyMark&, const KeyMark&) = default;
};
KeyMark mark_of(std::string_view key) {
  std::string salted(key);
  salted += "salt";
  return {hash_bytes(key.data(), key.size()), hash_bytes(salted.data(), salted.size())};
}

// The entries of one piece: visit(keyed) with each, which `key` holds.
Status visit_piece(Files& files, const PlacedPiece& piece, SavedKey& key, std::string& refusal,
                   const std::function<Status(const KeyedPiece&)>& visit) {
  auto reader = PieceReader::open(files, piece.place, KeyGroups(), nullptr);
  if (!reader.ok()) return reader.status();
  ByteReader in(**reader);
  const auto with_failure = [&](const Status& status) {
    return (*reader)->failure().ok() ? status : (*reader)->failure();
  };
  KeyedPiece keyed(in);
  if (const Status status = keyed.open(); !status.ok()) return with_failure(status);
  refusal = keyed.refusal();
  while (refusal.empty()) {
    const Result<bool> more = keyed.next(key);
    if (!more.ok()) return with_failure(more.status());
    if (!*more) break;
    HUMMER_TRY(visit(keyed));
  }
  return {};
}

// The keys of a piece that do not count in its second section. Those that are gone by the first one
// do, where they are: they came again, and went to disk.
Result<std::set<KeyMark>> keys_beside_second_section(Files& files, const PlacedPiece& piece) {
  std::set<KeyMark> keys;
  SavedKey key;
  std::string refusal;
  HUMMER_TRY(visit_piece(files, piece, key, refusal, [&](const KeyedPiece& keyed) -> Status {
    const bool counts = keyed.section() == 0 ? !keyed.gone() : keyed.section() == 2;
    if (counts) keys.insert(mark_of(key.key));
    return {};
  }));
  return keys;
}

// Those of one subtask, the newest first.
Status visit_pieces(Files& files, const std::vector<PlacedPiece>& pieces, SavedKey& key,
                    std::string& skipped, const std::function<Status(const SavedKey&)>& visit) {
  std::set<KeyMark> newer;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const bool remembers = piece + 1 != pieces.rend();
    std::optional<std::set<KeyMark>> beside;
    std::set<KeyMark> gone;  // by this piece, in which they may come again
    std::string refusal;
    HUMMER_TRY(visit_piece(files, *piece, key, refusal, [&](const KeyedPiece& keyed) -> Status {
      const bool second = keyed.section() == 1;
      if (second && !beside) {
        auto keys = keys_beside_second_section(files, *piece);
        if (!keys.ok()) return keys.status();
        beside = std::move(*keys);
      }
      if (keyed.gone()) {
        if (remembers) gone.insert(mark_of(key.key));
        return {};
      }
      if (second || !newer.empty() || remembers) {
        const KeyMark mark = mark_of(key.key);
        if (newer.contains(mark) || (second && beside->contains(mark))) return {};
        if (remembers) newer.insert(mark);
      }
      return visit(key);
    }));
    newer.merge(gone);
    if (!refusal.empty()) {
      skipped = refusal;
      return {};
    }
  }
  return {};
}

}  // namespace

Result<std::vector<SkippedOperator>> visit_saved_keys(
    Files& files, const std::string& path, const SavedKeysFilter& filter,
    const std::function<Status(const SavedKey&)>& visit) {
  const Result<CheckpointMetadata> metadata = CheckpointStore::read_at(files, path);
  if (!metadata.ok()) return metadata.status();
  PiecePlaces places;
  for (const CheckpointFile& file : metadata->files) {
    places.begin_file(file, CheckpointStore::path_of(path, file));
    HUMMER_TRY(CheckpointStore::read_parts(
        files, path, *metadata, file, [&](const SnapshotPart& part) { return places.add(part); }));
  }
  std::vector<SkippedOperator> skipped;
  bool found = filter.of_operator.empty();
  for (const CheckpointOperator& op : metadata->operators) {
    if (!filter.of_operator.empty() && op.uid != filter.of_operator &&
        op.name != filter.of_operator) {
      continue;
    }
    found = true;
    std::string why;
    for (const auto& [subtask, pieces] : places.pieces) {
      if (subtask.first != op.uid) continue;
      SavedKey key;
      key.from = &op;
      key.subtask = subtask.second;
      if (Status status = visit_pieces(files, pieces, key, why, visit); !status.ok()) {
        return status.with_context("operator '" + op.name + "' (uid '" + op.uid + "') in '" + path +
                                   "'");
      }
    }
    if (!why.empty()) skipped.push_back({op.uid, why});
  }
  if (!found) {
    return Status(ErrorCode::not_found,
                  "no operator of '" + path + "' has the uid or name '" + filter.of_operator + "'");
  }
  return skipped;
}

}  // namespace hummer
