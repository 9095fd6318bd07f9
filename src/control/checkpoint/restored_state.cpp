#include "control/checkpoint/restored_state.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "control/checkpoint/snapshot_files.hpp"
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

Result<std::shared_ptr<const RestoredState>> load_state(Files& files, const std::string& path,
                                                        const CheckpointMetadata& metadata,
                                                        const JobGraph& job, bool allow_dropped) {
  HUMMER_TRY(check_key_groups(metadata, job));
  auto state = std::make_shared<RestoredState>();
  state->checkpoint = metadata.id;
  std::vector<CheckpointFile> ordered = metadata.files;
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.vertex, a.subtask) < std::pair(b.vertex, b.subtask);
  });
  std::pair<std::uint32_t, std::uint32_t> task{UINT32_MAX, 0};
  std::map<std::string, std::size_t> first;  // of the task's pieces, by uid
  LeftOver left_over;
  for (const CheckpointFile& file : ordered) {
    if (std::exchange(task, {file.vertex, file.subtask}) != std::pair(file.vertex, file.subtask)) {
      first.clear();
    }
    const auto take = [&](std::string_view uid_view, std::string_view piece) -> Status {
      const std::string uid(uid_view);
      const auto refuse = [&](const std::string& what) {
        return Status(ErrorCode::corrupt_file, "snapshot file '" +
                                                   CheckpointStore::path_of(path, file) +
                                                   "': the piece '" + uid + "' " + what);
      };
      if (piece.empty()) return refuse("does not say what it is");
      const auto kind = static_cast<std::uint8_t>(piece[0]);
      std::string bytes(piece.substr(1));
      if (kind > piece_in_flight) return refuse("is of a kind that is not known");
      if (kind == piece_in_flight) {
        // What was in flight at an earlier checkpoint has arrived since.
        if (file.checkpoint != 0) return {};
        state->in_flight[uid].push_back({.uid = uid, .bytes = std::move(bytes), .in_flight = true});
        return {};
      }
      if (find_operator(job, uid) == nullptr) {
        add_left_over(left_over, uid, bytes);
        return {};
      }
      const bool delta = (kind & piece_is_delta) != 0;
      std::vector<SnapshotPiece>& pieces = state->pieces[uid];
      const auto at = first.try_emplace(uid, pieces.size());
      if (delta && at.second) return refuse("builds on one that the checkpoint does not name");
      // A whole piece stands for those of its subtask before it.
      if (!delta) pieces.resize(at.first->second);
      pieces.push_back({.uid = uid,
                        .bytes = std::move(bytes),
                        .ended = (kind & piece_ended) != 0,
                        .delta = delta});
      return {};
    };
    HUMMER_TRY(CheckpointStore::read_file(files, path, metadata, file, take));
  }
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
