#include "control/checkpoint/restored_state.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

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

Status check_restorable(const CheckpointMetadata& metadata, const JobGraph& job,
                        bool allow_dropped) {
  for (const CheckpointOperator& saved : metadata.operators) {
    const ChainedOperator* found = nullptr;
    for (const JobVertex& vertex : job.vertices) {
      for (const ChainedOperator& chained : vertex.chain) {
        if (chained.uid == saved.uid) found = &chained;
      }
    }
    if (found == nullptr) {
      if (allow_dropped || saved.key_groups == 0) continue;
      return {ErrorCode::invalid_graph,
              "checkpoint " + std::to_string(metadata.id) + " holds state of operator '" +
                  saved.name + "' (uid '" + saved.uid +
                  "'), which the job no longer has: give an operator that uid, or allow the state "
                  "to be dropped"};
    }
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
                                                        const CheckpointMetadata& metadata) {
  auto state = std::make_shared<RestoredState>();
  state->checkpoint = metadata.id;
  std::vector<CheckpointFile> ordered = metadata.files;
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(a.vertex, a.subtask) < std::pair(b.vertex, b.subtask);
  });
  for (const CheckpointFile& file : ordered) {
    HUMMER_TRY(CheckpointStore::read_file(
        files, path, metadata, file, [&](std::string_view uid, std::string_view piece) -> Status {
          if (piece.empty() || (piece[0] != piece_goes_on && piece[0] != piece_ended)) {
            return {ErrorCode::corrupt_file, "snapshot file '" + path + "/" + file.name +
                                                 "': the piece '" + std::string(uid) +
                                                 "' does not say whether it had ended"};
          }
          state->pieces[std::string(uid)].push_back(
              {std::string(uid), std::string(piece.substr(1)), piece[0] == piece_ended});
          return {};
        }));
  }
  return std::shared_ptr<const RestoredState>(std::move(state));
}

}  // namespace hummer
