#include "state/checkpoint_store.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include <hummer/codec.hpp>

namespace hummer {
namespace {

constexpr std::string_view prefix = "chk-";
constexpr std::string_view metadata_name = "_metadata";
constexpr std::string_view unfinished_name = "_metadata.unfinished";
constexpr std::string_view metadata_uid = "metadata/2";
constexpr std::size_t max_metadata_bytes = std::size_t{256} << 20;

// Zero: no name of a checkpoint.
std::uint64_t id_of(std::string_view name) {
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  return error == std::errc() && end == name.data() + name.size() ? id : 0;
}

}  // namespace

std::uint64_t CheckpointMetadata::state_bytes() const {
  std::uint64_t sum = 0;
  for (const CheckpointFile& file : files) sum += file.bytes;
  return sum;
}

Status CheckpointMetadata::add_earlier_files(const CheckpointMetadata* before) {
  std::vector<CheckpointFile> all;
  for (const CheckpointFile& own : files) {
    std::uint64_t oldest = id;
    for (std::size_t i = 0; own.builds_on != 0 && before != nullptr && i < before->files.size();
         ++i) {
      CheckpointFile earlier = before->files[i];
      if (earlier.checkpoint == 0) earlier.checkpoint = before->id;
      if (earlier.vertex != own.vertex || earlier.subtask != own.subtask ||
          earlier.checkpoint < own.builds_on) {
        continue;
      }
      oldest = std::min(oldest, earlier.checkpoint);
      all.push_back(std::move(earlier));
    }
    if (own.builds_on != 0 && oldest != own.builds_on) {
      return {ErrorCode::not_found, "file '" + own.name + "' of checkpoint " + std::to_string(id) +
                                        " builds on checkpoint " + std::to_string(own.builds_on) +
                                        ", which is not part of the one before"};
    }
    all.push_back(own);
  }
  files = std::move(all);
  return {};
}

std::string CheckpointStore::path_of(std::uint64_t id) const {
  char name[32];
  std::snprintf(name, sizeof name, "chk-%010llu", static_cast<unsigned long long>(id));
  return directory_ + "/" + name;
}

std::string CheckpointStore::path_of(const std::string& path, const CheckpointFile& file) {
  if (file.checkpoint == 0) return path + "/" + file.name;
  const std::size_t end = path.find_last_not_of('/');
  const std::size_t slash = end == std::string::npos ? end : path.find_last_of('/', end);
  char name[32];
  std::snprintf(name, sizeof name, "chk-%010llu", static_cast<unsigned long long>(file.checkpoint));
  return (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + name + "/" +
         file.name;
}

std::string CheckpointStore::file_name(std::uint32_t vertex, std::uint32_t subtask) {
  return std::to_string(vertex) + "-" + std::to_string(subtask) + ".state";
}

Status CheckpointStore::begin(std::uint64_t id) {
  HUMMER_TRY(remove(id));
  HUMMER_TRY(files_.create_directories(path_of(id)));
  return files_.sync_directory(directory_);
}

Status CheckpointStore::complete(const CheckpointMetadata& metadata) {
  const std::string path = path_of(metadata.id);
  const std::string unfinished = path + "/" + std::string(unfinished_name);
  HUMMER_TRY(files_.sync_directory(path));  // the names of the state files
  SnapshotFileHead head;
  head.job = metadata.job;
  head.checkpoint = metadata.id;
  Result<SnapshotFileWriter> writer = SnapshotFileWriter::create(files_, unfinished, head);
  if (!writer.ok()) return writer.status();
  std::string bytes;
  ByteWriter out(bytes);
  Codec<CheckpointMetadata>::encode(metadata, out);
  HUMMER_TRY(writer->add(metadata_uid, out.view()));
  if (const auto summary = writer->finish(); !summary.ok()) return summary.status();
  HUMMER_TRY(files_.rename(unfinished, path + "/" + std::string(metadata_name)));
  return files_.sync_directory(path);
}

Status CheckpointStore::remove(std::uint64_t id) { return remove(id, {}); }

Status CheckpointStore::remove(std::uint64_t id, const std::set<std::string>& needed) {
  const std::string path = path_of(id);
  const Result<std::vector<std::string>> names = files_.list_directory(path);
  if (!names.ok()) {
    return names.status().code() == ErrorCode::not_found ? Status() : names.status();
  }
  const std::string metadata = path + "/" + std::string(metadata_name);
  if (std::find(names->begin(), names->end(), metadata_name) != names->end()) {
    HUMMER_TRY(files_.remove(metadata));
    HUMMER_TRY(files_.sync_directory(path));
  }
  bool empty = true;
  for (const std::string& name : *names) {
    if (name == metadata_name) continue;
    if (needed.contains(path + "/" + name)) {
      empty = false;
    } else {
      HUMMER_TRY(files_.remove(path + "/" + name));
    }
  }
  return empty ? files_.remove(path) : Status();
}

Status CheckpointStore::retain(std::size_t kept) {
  const Result<std::vector<std::uint64_t>> all = ids();
  if (!all.ok()) return all.status();
  std::size_t complete = 0;
  std::set<std::string> needed;
  for (std::size_t i = all->size(); i-- > 0;) {
    const std::uint64_t id = (*all)[i];
    if (complete == kept) {
      HUMMER_TRY(remove(id, needed));
      continue;
    }
    const Result<CheckpointMetadata> metadata = read(id);
    if (!metadata.ok()) {
      const ErrorCode code = metadata.status().code();
      if (code == ErrorCode::not_found || code == ErrorCode::corrupt_file) continue;
      return metadata.status();
    }
    ++complete;
    for (const CheckpointFile& file : metadata->files) {
      needed.insert(path_of(path_of(id), file));
    }
  }
  return {};
}

Result<std::vector<std::uint64_t>> CheckpointStore::ids() const {
  const Result<std::vector<std::string>> names = files_.list_directory(directory_);
  std::vector<std::uint64_t> found;
  if (!names.ok()) {
    if (names.status().code() == ErrorCode::not_found) return found;
    return names.status();
  }
  for (const std::string& name : *names) {
    if (const std::uint64_t id = id_of(name); id != 0) found.push_back(id);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<CheckpointMetadata> CheckpointStore::read(std::uint64_t id) const {
  Result<CheckpointMetadata> metadata = read_at(files_, path_of(id));
  if (metadata.ok() && metadata->id != id) {
    return Status(ErrorCode::corrupt_file,
                  "checkpoint '" + path_of(id) + "' is of number " + std::to_string(metadata->id));
  }
  return metadata;
}

Result<CheckpointMetadata> CheckpointStore::read_at(Files& files, const std::string& directory) {
  const std::string path = directory + "/" + std::string(metadata_name);
  Result<SnapshotFileReader> reader = SnapshotFileReader::open(files, path);
  if (!reader.ok()) return reader.status();
  const auto refuse = [&](const std::string& what) {
    return Status(ErrorCode::corrupt_file, "checkpoint metadata '" + path + "': " + what);
  };
  std::string uid;
  std::string bytes;
  const Result<bool> piece = reader->next(uid, bytes, max_metadata_bytes);
  if (!piece.ok()) return piece.status();
  if (!*piece || uid != metadata_uid) return refuse("it holds no metadata of this version");
  CheckpointMetadata metadata;
  ByteReader in(bytes);
  if (!Codec<CheckpointMetadata>::decode(in, metadata) || in.left() != 0) {
    return refuse("it cannot be decoded");
  }
  const Result<bool> more = reader->next(uid, bytes, max_metadata_bytes);
  if (!more.ok()) return more.status();
  if (*more) return refuse("it holds more than the metadata");
  if (metadata.id != reader->head().checkpoint) {
    return refuse("it is of checkpoint " + std::to_string(metadata.id));
  }
  for (const CheckpointFile& file : metadata.files) {
    if (file.name != file_name(file.vertex, file.subtask)) {
      return refuse("it names a file '" + file.name + "'");
    }
  }
  return metadata;
}

Status CheckpointStore::verify(const CheckpointMetadata& metadata) const {
  std::string uid;
  std::string piece;
  for (const CheckpointFile& file : metadata.files) {
    const std::string path = path_of(path_of(metadata.id), file);
    const std::uint64_t written_for = file.checkpoint == 0 ? metadata.id : file.checkpoint;
    Result<SnapshotFileReader> reader = SnapshotFileReader::open(files_, path);
    if (!reader.ok()) return reader.status();
    for (;;) {
      const Result<bool> more = reader->next(uid, piece);
      if (!more.ok()) return more.status();
      if (!*more) break;
    }
    const SnapshotFileHead& head = reader->head();
    if (reader->summary() != SnapshotFileSummary{file.bytes, file.hash} ||
        head.checkpoint != written_for || head.job != metadata.job || head.vertex != file.vertex ||
        head.subtask != file.subtask) {
      return {ErrorCode::corrupt_file,
              "snapshot file '" + path + "' is not the one that the checkpoint was made with"};
    }
  }
  return {};
}

Result<CheckpointMetadata> CheckpointStore::newest(std::vector<SkippedCheckpoint>& skipped) const {
  const Result<std::vector<std::uint64_t>> all = ids();
  if (!all.ok()) return all.status();
  for (std::size_t i = all->size(); i-- > 0;) {
    const std::uint64_t id = (*all)[i];
    Result<CheckpointMetadata> metadata = read(id);
    Status status = metadata.ok() ? verify(*metadata) : metadata.status();
    if (status.ok()) return metadata;
    skipped.push_back({id, std::move(status)});
  }
  return Status(ErrorCode::not_found, "no complete checkpoint in '" + directory_ + "'");
}

}  // namespace hummer
