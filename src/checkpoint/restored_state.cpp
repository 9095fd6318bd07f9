#include "checkpoint/restored_state.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "checkpoint/snapshot_files.hpp"
#include "runtime/snapshot_piece.hpp"

namespace hummer {

CheckpointMetadata describe_job(const JobGraph& job, const std::vector<int>& parallelism) {
  CheckpointMetadata metadata;
  metadata.job = job.fingerprint;
  metadata.job_name = job.job_name;
  metadata.fingerprint = job.fingerprint;
  for (const JobVertex& vertex : job.vertices) {
    const auto subtasks =
        static_cast<std::uint32_t>(parallelism[static_cast<std::size_t>(vertex.id)]);
    for (const ChainedOperator& chained : vertex.chain) {
      metadata.operators.push_back({chained.uid, chained.name,
                                    static_cast<std::uint32_t>(vertex.id), subtasks,
                                    static_cast<std::uint32_t>(chained.key_groups)});
    }
  }
  return metadata;
}

std::size_t chain_count(const std::vector<int>& parallelism) {
  return static_cast<std::size_t>(std::accumulate(parallelism.begin(), parallelism.end(), 0));
}

namespace {

const ChainedOperator* find_operator(const JobGraph& job, std::string_view uid) {
  for (const JobVertex& vertex : job.vertices) {
    for (const ChainedOperator& chained : vertex.chain) {
      if (chained.uid == uid) return &chained;
    }
  }
  return nullptr;
}

// State of operators that the job does not have, by their uids: what each called it.
using LeftOver = std::map<std::string, std::set<std::string>, std::less<>>;

void add_left_over(LeftOver& left_over, std::string_view uid, std::string_view piece) {
  for (std::string& state : states_held(piece))
    left_over[std::string(uid)].insert(std::move(state));
}

// "'position' of operator 'generate' (uid 'numbers')", one after the other.
std::string to_text(const LeftOver& left_over, const CheckpointMetadata& metadata) {
  std::string text;
  for (const auto& [uid, states] : left_over) {
    if (!text.empty()) text += "; ";
    std::string names;
    for (const std::string& state : states) names += (names.empty() ? "'" : ", '") + state + "'";
    text += names + " of ";
    for (const CheckpointOperator& saved : metadata.operators) {
      if (saved.uid == uid) text += "operator '" + saved.name + "' ";
    }
    text += "(uid '" + uid + "')";
  }
  return text;
}

}  // namespace

Status check_key_groups(const CheckpointMetadata& metadata, const JobGraph& job) {
  for (const CheckpointOperator& saved : metadata.operators) {
    const ChainedOperator* found = find_operator(job, saved.uid);
    if (found == nullptr) continue;
    const auto groups = static_cast<std::uint32_t>(found->key_groups);
    if (saved.key_groups != 0 && groups != saved.key_groups) {
      return {ErrorCode::invalid_graph,
              "operator '" + found->name + "' has " + std::to_string(groups) +
                  " key groups, and its state in checkpoint " + std::to_string(metadata.id) +
                  " has " + std::to_string(saved.key_groups) +
                  ": set its maximum parallelism to that"};
    }
  }
  return {};
}

namespace {

// Notes the pieces of a checkpoint's files, as their blocks come, in the order of the subtasks.
class PieceFinder {
 public:
  PieceFinder(const JobGraph& job, RestoredState& state) : job_(job), state_(state) {}

  void begin_file(const CheckpointFile& file, std::string path) {
    const std::pair task(file.vertex, file.subtask);
    if (std::exchange(task_, task) != task) first_.clear();
    of_earlier_ = file.checkpoint != 0;
    path_ = std::move(path);
    piece_ = {};
    head_.clear();
  }
  // Of a file with an index: reads no more of a piece than says what it is.
  Status add_indexed(CheckpointStore::IndexedFile file) {
    for (SnapshotIndex::Piece& piece : file.index.pieces) {
      for (std::size_t i = 0; i < std::min(piece.blocks.size(), blocks_of_head); ++i) {
        const SnapshotIndex::Block& block = piece.blocks[i];
        file.reader.go_to(block.at);
        file.reader.read_ahead_until(
            SnapshotFileReader::end_of_block(block.at, piece.uid, block.bytes));
        SnapshotPart part;
        const Result<bool> more = file.reader.next_part(part);
        if (!more.ok()) return more.status();
        if (!*more || part.uid != piece.uid || part.check != block.check) {
          return refuse(piece.uid, "is not the one that its index names");
        }
        head_.append(part.bytes);
        // That of an operator of the job says all else when it is restored.
        if (!head_.empty() && find_operator(job_, piece.uid) != nullptr) break;
      }
      piece_.place.path = path_;
      piece_.place.uid = piece.uid;
      piece_.place.at = piece.blocks.front().at;
      for (const SnapshotIndex::Block& block : piece.blocks) piece_.place.bytes += block.bytes;
      piece_.place.blocks = std::move(piece.blocks);
      HUMMER_TRY(end_piece(piece.uid));
      piece_ = {};
      head_.clear();
    }
    state_.bytes_read += file.reader.bytes_read();
    return {};
  }
  Status add(const SnapshotPart& part) {
    if (piece_.place.path.empty()) {
      piece_.place.path = path_;
      piece_.place.uid = part.uid;
      piece_.place.at = part.at;
    }
    piece_.place.bytes += part.bytes.size();
    state_.bytes_read += part.bytes.size();
    if (head_.size() < head_bytes) head_.append(part.bytes);
    if (!part.last) return {};
    HUMMER_TRY(end_piece(std::string(part.uid)));
    piece_ = {};
    head_.clear();
    return {};
  }
  const LeftOver& left_over() const { return left_over_; }

 private:
  static constexpr std::size_t head_bytes = std::size_t{1} << 20;  // where states are named
  static constexpr std::size_t blocks_of_head = 2;                 // and something behind them

  Status end_piece(const std::string& uid) {
    if (head_.empty()) return refuse(uid, "does not say what it is");
    const auto kind = static_cast<std::uint8_t>(head_[0]);
    if (kind > piece_in_flight) return refuse(uid, "is of a kind that is not known");
    if (kind == piece_in_flight) {
      // What was in flight at an earlier checkpoint has arrived since.
      if (!of_earlier_) state_.in_flight[uid].push_back(std::move(piece_));
      return {};
    }
    if (find_operator(job_, uid) == nullptr) {
      add_left_over(left_over_, uid, std::string_view(head_).substr(1));
      return {};
    }
    piece_.ended = (kind & piece_ended) != 0;
    piece_.delta = (kind & piece_is_delta) != 0;
    std::vector<RestoredPiece>& pieces = state_.pieces[uid];
    const auto at = first_.try_emplace(uid, pieces.size());
    if (piece_.delta && at.second) {
      return refuse(uid, "builds on one that the checkpoint does not name");
    }
    // A whole piece stands for those of its subtask before it.
    if (!piece_.delta) pieces.resize(at.first->second);
    pieces.push_back(std::move(piece_));
    return {};
  }
  Status refuse(const std::string& uid, const std::string& what) const {
    return {ErrorCode::corrupt_file,
            "snapshot file '" + path_ + "': the piece '" + uid + "' " + what};
  }

  const JobGraph& job_;
  RestoredState& state_;
  LeftOver left_over_;
  std::pair<std::uint32_t, std::uint32_t> task_{UINT32_MAX, 0};
  std::map<std::string, std::size_t> first_;  // of the task's pieces, by uid
  bool of_earlier_ = false;
  std::string path_;
  RestoredPiece piece_;  // under way
  std::string head_;     // of it
};

}  // namespace

Result<std::shared_ptr<const RestoredState>> find_state(Files& files, const std::string& path,
                                                        const CheckpointMetadata& metadata,
                                                        const JobGraph& job, bool allow_dropped) {
  HUMMER_TRY(check_key_groups(metadata, job));
  auto state = std::make_shared<RestoredState>();
  state->checkpoint = metadata.id;
  state->state_bytes = metadata.state_bytes();
  for (const CheckpointListing& listing : metadata.listings) {
    state->listings[listing.uid] = std::make_shared<const std::string>(listing.bytes);
  }
  std::vector<CheckpointFile> ordered = metadata.files;
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.vertex, a.subtask) < std::pair(b.vertex, b.subtask);
  });
  PieceFinder finder(job, *state);
  for (const CheckpointFile& file : ordered) {
    finder.begin_file(file, CheckpointStore::path_of(path, file));
    auto indexed = CheckpointStore::open_indexed(files, path, metadata, file);
    if (!indexed.ok()) return indexed.status();
    if (*indexed) {
      HUMMER_TRY(finder.add_indexed(std::move(**indexed)));
      continue;
    }
    HUMMER_TRY(CheckpointStore::read_parts(
        files, path, metadata, file, [&](const SnapshotPart& part) { return finder.add(part); }));
  }
  const LeftOver& left_over = finder.left_over();
  if (!left_over.empty()) state->dropped = to_text(left_over, metadata);
  if (!left_over.empty() && !allow_dropped) {
    return Status(ErrorCode::invalid_graph,
                  "checkpoint " + std::to_string(metadata.id) +
                      " holds state of operators that the job no longer has, " + state->dropped +
                      ": " + state_remedies);
  }
  return std::shared_ptr<const RestoredState>(std::move(state));
}

}  // namespace hummer
