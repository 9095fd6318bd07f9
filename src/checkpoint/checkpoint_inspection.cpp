#include "checkpoint/checkpoint_inspection.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <hummer/bytes.hpp>

#include "checkpoint/checkpoint_order.hpp"

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

void add(CheckpointInspection found, CheckpointInspections& all) {
  if (!found.metadata && found.status.code() == ErrorCode::not_found) {
    all.incomplete.push_back(std::move(found.path));
  } else {
    all.checkpoints.push_back(std::move(found));
  }
}

Status inspect_store(Files& files, const std::string& directory, bool read_files,
                     CheckpointInspections& all) {
  const CheckpointStore store(files, directory);
  const Result<std::vector<std::uint64_t>> ids = store.ids();
  if (!ids.ok()) return ids.status();
  std::set<std::string> built_on;
  for (const std::uint64_t id : *ids) {
    CheckpointInspection found = inspect_checkpoint(files, store.path_of(id), read_files);
    for (const InspectedFile& file : found.files) {
      if (file.from_metadata.checkpoint == 0) continue;
      built_on.insert(store.path_of(file.from_metadata.checkpoint));
    }
    add(std::move(found), all);
  }
  std::erase_if(all.incomplete, [&](std::string& path) {
    if (!built_on.contains(path)) return false;
    all.bases.push_back(std::move(path));
    return true;
  });
  return {};
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
    if (read_files) {
      inspected.status = CheckpointStore::read_file(
          files, path, *found.metadata, file, [&](std::string_view uid, std::string_view piece) {
            const auto known = by_uid.find(uid);
            if (known != by_uid.end()) look_into(piece, found.operators[known->second]);
            return Status();
          });
    } else {
      inspected.status = files.stat(CheckpointStore::path_of(path, file)).status();
    }
    if (found.status.ok()) found.status = inspected.status;
  }
  // Metadata go before files: a running job has removed it while it was looked at.
  if (!found.status.ok() && !CheckpointStore::is_checkpoint(files, path)) {
    found = {};
    found.path = path;
    found.status = {ErrorCode::not_found, "'" + path + "' has just been removed"};
  }
  return found;
}

Result<CheckpointInspections> inspect_checkpoints(Files& files, const std::string& path,
                                                  bool read_files) {
  CheckpointInspections all;
  if (CheckpointStore::is_checkpoint(files, path)) {
    all.checkpoints.push_back(inspect_checkpoint(files, path, read_files));
    return all;
  }
  const Result<std::vector<std::string>> names = files.list_directory(path);
  if (!names.ok()) return names.status();
  HUMMER_TRY(inspect_store(files, path, read_files, all));
  for (const std::string& name : *names) {
    if (!is_job_directory(name)) continue;
    HUMMER_TRY(inspect_store(files, path + "/" + name, read_files, all));
  }
  for (const std::string& name : *names) {
    if (!is_savepoint(name)) continue;
    add(inspect_checkpoint(files, path + "/" + name, read_files), all);
  }
  return all;
}

}  // namespace hummer
