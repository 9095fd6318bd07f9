#include "control/checkpoint/checkpoint_inspection.hpp"

#include <algorithm>
#include <map>

#include <hummer/bytes.hpp>

namespace hummer {
namespace {

// A piece begins with the byte that says whether its stream had ended, then its states.
void look_into(std::string_view piece, InspectedOperator& op) {
  ++op.pieces;
  op.state_bytes += piece.size();
  ByteReader in(piece);
  std::vector<StateDescription> states;
  if (in.take(1) == nullptr || !decode_states(in, states)) return;
  for (StateDescription& state : states) {
    if (std::find(op.states.begin(), op.states.end(), state) == op.states.end()) {
      op.states.push_back(std::move(state));
    }
  }
}

}  // namespace

CheckpointInspection inspect_checkpoint(Files& files, const std::string& path, bool read_files) {
  CheckpointInspection found;
  found.path = path;
  Result<CheckpointMetadata> metadata = CheckpointStore::read_at(files, path);
  if (!metadata.ok()) {
    found.status = metadata.status();
    return found;
  }
  found.metadata = std::move(*metadata);
  std::map<std::string, std::size_t, std::less<>> by_uid;
  for (const CheckpointOperator& op : found.metadata->operators) {
    by_uid.emplace(op.uid, found.operators.size());
    found.operators.emplace_back().from_metadata = op;
  }
  for (const CheckpointFile& file : found.metadata->files) {
    InspectedFile& inspected = found.files.emplace_back(InspectedFile{file, {}});
    if (!read_files) continue;
    inspected.status = CheckpointStore::read_file(
        files, path, *found.metadata, file, [&](std::string_view uid, std::string_view piece) {
          const auto known = by_uid.find(uid);
          if (known != by_uid.end()) look_into(piece, found.operators[known->second]);
          return Status();
        });
    if (found.status.ok()) found.status = inspected.status;
  }
  return found;
}

Result<std::vector<CheckpointInspection>> inspect_checkpoints(Files& files, const std::string& path,
                                                              bool read_files) {
  std::vector<CheckpointInspection> all;
  if (CheckpointStore::is_checkpoint(files, path)) {
    all.push_back(inspect_checkpoint(files, path, read_files));
    return all;
  }
  const Result<FileInformation> information = files.stat(path);
  if (!information.ok()) return information.status();
  const CheckpointStore store(files, path);
  const Result<std::vector<std::uint64_t>> ids = store.ids();
  if (!ids.ok()) return ids.status();
  for (const std::uint64_t id : *ids) {
    all.push_back(inspect_checkpoint(files, store.path_of(id), read_files));
  }
  return all;
}

}  // namespace hummer
