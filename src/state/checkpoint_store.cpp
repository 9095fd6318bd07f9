#include "state/checkpoint_store.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include <hummer/codec.hpp>

#include "platform/object_files.hpp"

namespace hummer {
namespace {

constexpr std::string_view prefix = "chk-";
constexpr std::string_view metadata_name = "_metadata";
constexpr std::string_view unfinished_name = "_metadata.unfinished";
constexpr std::string_view metadata_uid = "metadata/3";
constexpr std::string_view metadata_uid_without_listings = "metadata/2";
constexpr std::size_t max_metadata_bytes = std::size_t{256} << 20;

// Zero: no name of a checkpoint.
std::uint64_t id_of(std::string_view name) {
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  return error == std::errc() && end == name.data() + name.size() ? id : 0;
}

// A file of its own, or a stretch of a segment beside it.
bool is_name_of(const CheckpointFile& file) {
  if (file.name == CheckpointStore::file_name(file.vertex, file.subtask)) return true;
  const auto stretch = parse_object_stretch(file.name);
  return stretch && stretch->bytes == file.bytes && stretch->object.find('/') == std::string::npos;
}

// A file in memory, for an object that is written at once.
class FileInMemory final : public WritableFile {
 public:
  FileInMemory(std::string path, std::string& bytes) : path_(std::move(path)), bytes_(bytes) {}
  const std::string& path() const override { return path_; }
  Status append(std::string_view bytes) override {
    bytes_.append(bytes);
    return {};
  }
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  const std::string path_;
  std::string& bytes_;
};

Status write_metadata(SnapshotFileWriter writer, const CheckpointMetadata& metadata) {
  std::string bytes;
  ByteWriter out(bytes);
  Codec<CheckpointMetadata>::encode(metadata, out);
  HUMMER_TRY(writer.add(metadata_uid, out.view()));
  return writer.finish().status();
}

Status metadata_refused(const std::string& path, const std::string& what) {
  return {ErrorCode::corrupt_file, "checkpoint metadata '" + path + "': " + what};
}

}  // namespace

Result<CheckpointMetadata> decode_metadata(std::string_view bytes, const std::string& path) {
  CheckpointMetadata metadata;
  ByteReader in(bytes);
  if (!Codec<CheckpointMetadata>::decode(in, metadata) || in.left() != 0) {
    return metadata_refused(path, "it cannot be decoded");
  }
  for (const CheckpointFile& file : metadata.files) {
    if (!is_name_of(file)) {
      return metadata_refused(path, "it names a file '" + file.name + "'");
    }
  }
  return metadata;
}

std::uint64_t CheckpointMetadata::state_bytes() const {
  std::uint64_t sum = 0;
  for (const CheckpointFile& file : files) sum += file.bytes;
  return sum;
}

std::uint64_t CheckpointMetadata::written_bytes() const {
  std::uint64_t sum = 0;
  for (const CheckpointFile& file : files) sum += file.checkpoint == 0 ? file.bytes : 0;
  return sum;
}

Status CheckpointMetadata::add_earlier_files(const CheckpointMetadata* before) {
  std::vector<CheckpointFile> all;
  for (const CheckpointFile& own : files) {
    if (savepoint && own.builds_on != 0) {
      return {ErrorCode::internal, "file '" + own.name + "' of savepoint " + std::to_string(id) +
                                       " is a delta: a savepoint must not need other files"};
    }
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

std::string CheckpointStore::path_in(const std::string& directory, std::uint64_t id) {
  char name[32];
  std::snprintf(name, sizeof name, "chk-%010llu", static_cast<unsigned long long>(id));
  return directory + "/" + name;
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

Status CheckpointStore::begin_at(Files& files, const std::string& path) {
  const Result<ObjectStore*> store = files.object_store(path);
  if (!store.ok()) return store.status();
  // Nothing to make, and what others have left has other names.
  if (*store != nullptr) return {};
  HUMMER_TRY(remove_at(files, path));
  HUMMER_TRY(files.create_directories(path));
  // An earlier process may have made the directories above, and died before it had synced them. Who
  // may not read the upper one has made nothing in it.
  const std::string parent = parent_of(path);
  HUMMER_TRY(files.sync_directory(parent));
  Status above = files.sync_directory(parent_of(parent));
  return above.code() == ErrorCode::permission_denied ? Status() : above;
}

Status CheckpointStore::complete_at(Files& files, const std::string& path,
                                    const CheckpointMetadata& metadata) {
  const std::string whole = path + "/" + std::string(metadata_name);
  const std::string unfinished = path + "/" + std::string(unfinished_name);
  SnapshotFileHead head;
  head.job = metadata.job;
  head.checkpoint = metadata.id;
  const Result<ObjectStore*> store = files.object_store(path);
  if (!store.ok()) return store.status();
  if (*store != nullptr) {
    std::string bytes;
    Result<SnapshotFileWriter> writer =
        SnapshotFileWriter::create(std::make_unique<FileInMemory>(whole, bytes), head);
    if (!writer.ok()) return writer.status();
    HUMMER_TRY(write_metadata(std::move(*writer), metadata));
    // Whoever is first keeps it: one that was cut off must not take the place of its successor's.
    const Status put = (*store)->put(whole, bytes, true);
    if (put.code() != ErrorCode::invalid_argument) return put;
    return {ErrorCode::io_error,
            "'" + whole + "' is there already: somebody else has completed it"};
  }
  HUMMER_TRY(files.sync_directory(path));  // the names of the state files
  Result<SnapshotFileWriter> writer = SnapshotFileWriter::create(files, unfinished, head);
  if (!writer.ok()) return writer.status();
  HUMMER_TRY(write_metadata(std::move(*writer), metadata));
  HUMMER_TRY(files.rename(unfinished, whole));
  return files.sync_directory(path);
}

Status CheckpointStore::make_durable(Files& files, const std::string& path) {
  // Who may read its files and not their list has no part in writing it.
  Status synced = files.sync_directory(path);
  return synced.code() == ErrorCode::permission_denied ? Status() : synced;
}

Status CheckpointStore::remove_at(Files& files, const std::string& path) {
  return remove_at(files, path, {});
}

Status CheckpointStore::remove_at(Files& files, const std::string& path,
                                  const std::set<std::string>& needed) {
  const Result<std::vector<std::string>> names = files.list_directory(path);
  if (!names.ok()) {
    return names.status().code() == ErrorCode::not_found ? Status() : names.status();
  }
  const Result<ObjectStore*> store = files.object_store(path);
  if (!store.ok()) return store.status();
  const std::string metadata = path + "/" + std::string(metadata_name);
  if (std::find(names->begin(), names->end(), metadata_name) != names->end()) {
    HUMMER_TRY(files.remove(metadata));
    HUMMER_TRY(files.sync_directory(path));
  }
  if (*store != nullptr) {
    std::vector<std::string> others;
    for (const std::string& name : *names) {
      const bool goes = name != metadata_name && !needed.contains(path + "/" + name);
      if (goes) others.push_back(path + "/" + name);
    }
    return others.empty() ? Status() : (*store)->remove(others);
  }
  bool empty = true;
  for (const std::string& name : *names) {
    if (name == metadata_name) continue;
    if (needed.contains(path + "/" + name)) {
      empty = false;
    } else {
      HUMMER_TRY(files.remove(path + "/" + name));
    }
  }
  return empty ? files.remove(path) : Status();
}

Status CheckpointStore::retain(std::size_t kept, std::uint64_t from) {
  const Result<std::vector<std::uint64_t>> all = ids();
  if (!all.ok()) return all.status();
  std::size_t complete = 0;
  std::set<std::string> needed;
  for (std::size_t i = all->size(); i-- > 0;) {
    const std::uint64_t id = (*all)[i];
    if (id < from) break;
    if (complete == kept) {
      HUMMER_TRY(remove_at(files_, path_of(id), needed));
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
      needed.insert(object_of(path_of(path_of(id), file)));
    }
  }
  return {};
}

Status CheckpointStore::remove_all(std::uint64_t from) {
  HUMMER_TRY(retain(1, from));
  const Result<std::vector<std::uint64_t>> left = ids();
  if (!left.ok()) return left.status();
  for (auto id = left->rbegin(); id != left->rend() && *id >= from; ++id) {
    HUMMER_TRY(remove(*id));
  }
  return {};
}

Status CheckpointStore::remove_of(std::string_view job_name, std::uint64_t below) {
  const Result<std::vector<std::uint64_t>> all = ids();
  if (!all.ok()) return all.status();
  std::set<std::string> needed;
  std::set<std::string> removed;
  for (const std::uint64_t id : *all) {
    const Result<CheckpointMetadata> metadata = read(id);
    if (!metadata.ok()) continue;
    const bool own = id < below && metadata->job_name == job_name;
    if (own) removed.insert(path_of(id));
    for (const CheckpointFile& file : metadata->files) {
      const std::string path = object_of(path_of(path_of(id), file));
      if (own) {
        removed.insert(parent_of(path));
      } else {
        needed.insert(path);
      }
    }
  }
  // The newest first: it may build on the others.
  for (auto path = removed.rbegin(); path != removed.rend(); ++path) {
    HUMMER_TRY(remove_at(files_, *path, needed));
  }
  return {};
}

Status CheckpointStore::remove_orphans(std::int64_t modified_before_ms) {
  const Result<ObjectStore*> objects = files_.object_store(directory_);
  if (!objects.ok()) return objects.status();
  if (*objects == nullptr) return {};
  HUMMER_TRY((*objects)->abort_uploads(directory_, modified_before_ms));
  const Result<std::vector<std::uint64_t>> all = ids();
  if (!all.ok()) return all.status();
  std::set<std::string> needed;
  std::vector<std::uint64_t> incomplete;
  std::uint64_t newest = 0;
  for (const std::uint64_t id : *all) {
    const Result<CheckpointMetadata> metadata = read(id);
    if (metadata.status().code() == ErrorCode::not_found) {
      incomplete.push_back(id);
      continue;
    }
    // One that can't be read may need anything.
    if (!metadata.ok()) return metadata.status();
    newest = id;
    for (const CheckpointFile& file : metadata->files) {
      needed.insert(object_of(path_of(path_of(id), file)));
    }
  }
  for (const std::uint64_t id : incomplete) {
    const Result<std::vector<std::string>> names = files_.list_directory(path_of(id));
    if (id > newest || !names.ok()) continue;
    bool is_old = true;
    for (const std::string& name : *names) {
      const Result<FileInformation> file = files_.stat(path_of(id) + "/" + name);
      is_old &= file.ok() && file->modified_ms < modified_before_ms;
    }
    if (is_old) HUMMER_TRY(remove_at(files_, path_of(id), needed));
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
  return read_at(files_, path_of(id));
}

Result<CheckpointMetadata> CheckpointStore::read_at(Files& files, const std::string& directory) {
  const std::string path = directory + "/" + std::string(metadata_name);
  Result<SnapshotFileReader> reader = SnapshotFileReader::open(files, path);
  if (!reader.ok()) return reader.status();
  const auto refuse = [&](const std::string& what) { return metadata_refused(path, what); };
  std::string uid;
  std::string bytes;
  const Result<bool> piece = reader->next(uid, bytes, max_metadata_bytes);
  if (!piece.ok()) return piece.status();
  if (*piece && uid == metadata_uid_without_listings) {
    std::string none;
    ByteWriter out(none);
    Codec<std::vector<CheckpointListing>>::encode(std::vector<CheckpointListing>(), out);
    bytes += out.view();
    uid = metadata_uid;
  }
  if (!*piece || uid != metadata_uid) return refuse("it holds no metadata of this version");
  Result<CheckpointMetadata> metadata = decode_metadata(bytes, path);
  if (!metadata.ok()) return metadata;
  const Result<bool> more = reader->next(uid, bytes, max_metadata_bytes);
  if (!more.ok()) return more.status();
  if (*more) return refuse("it holds more than the metadata");
  const std::uint64_t named = id_of(directory.substr(directory.rfind('/') + 1));
  if (metadata->id != reader->head().checkpoint || (named != 0 && named != metadata->id)) {
    return refuse("it is of checkpoint " + std::to_string(metadata->id));
  }
  if (metadata->job != reader->head().job) {
    return refuse("its head is of job " + std::to_string(reader->head().job) +
                  ", and it describes one of job " + std::to_string(metadata->job));
  }
  return metadata;
}

bool CheckpointStore::is_checkpoint(Files& files, const std::string& path) {
  return files.stat(path + "/" + std::string(metadata_name)).ok();
}

Status CheckpointStore::read_file(Files& files, const std::string& directory,
                                  const CheckpointMetadata& metadata, const CheckpointFile& file,
                                  const VisitPiece& visit) {
  std::string piece;
  return read_parts(files, directory, metadata, file, [&](const SnapshotPart& part) -> Status {
    piece.append(part.bytes);
    if (!part.last) return {};
    HUMMER_TRY(visit(part.uid, piece));
    piece.clear();
    return {};
  });
}

namespace {

Status foreign(const std::string& path, const CheckpointMetadata& metadata,
               const SnapshotFileHead& head) {
  return {ErrorCode::corrupt_file, "snapshot file '" + path + "' is not the one that checkpoint " +
                                       std::to_string(metadata.id) +
                                       " was made with: it is of job " + std::to_string(head.job) +
                                       ", checkpoint " + std::to_string(head.checkpoint) +
                                       ", vertex " + std::to_string(head.vertex) + ", subtask " +
                                       std::to_string(head.subtask)};
}

// What its head says is compared with the metadata.
Result<SnapshotFileReader> open_file(Files& files, const std::string& path,
                                     const CheckpointMetadata& metadata,
                                     const CheckpointFile& file) {
  const std::uint64_t written_for = file.checkpoint == 0 ? metadata.id : file.checkpoint;
  Result<SnapshotFileReader> reader = SnapshotFileReader::open(files, path);
  if (reader.status().code() == ErrorCode::not_found) {
    // Of a checkpoint that is complete: damage like any other.
    return Status(ErrorCode::corrupt_file, reader.status().message())
        .with_context("a file of checkpoint " + std::to_string(metadata.id) + " is missing");
  }
  if (!reader.ok()) return reader;
  const SnapshotFileHead& head = reader->head();
  if (head.checkpoint != written_for || head.job != metadata.job || head.vertex != file.vertex ||
      head.subtask != file.subtask) {
    return foreign(path, metadata, head);
  }
  return reader;
}

}  // namespace

Status CheckpointStore::read_parts(Files& files, const std::string& directory,
                                   const CheckpointMetadata& metadata, const CheckpointFile& file,
                                   const VisitPart& visit) {
  const std::string path = path_of(directory, file);
  Result<SnapshotFileReader> reader = open_file(files, path, metadata, file);
  if (!reader.ok()) return reader.status();
  reader->advise_sequential();
  SnapshotPart part;
  for (;;) {
    const Result<bool> more = reader->next_part(part);
    if (!more.ok()) return more.status();
    if (!*more) break;
    HUMMER_TRY(visit(part));
  }
  return reader->summary() == SnapshotFileSummary{file.bytes, file.hash}
             ? Status()
             : foreign(path, metadata, reader->head());
}

Result<std::optional<CheckpointStore::IndexedFile>> CheckpointStore::open_indexed(
    Files& files, const std::string& directory, const CheckpointMetadata& metadata,
    const CheckpointFile& file) {
  const std::string path = path_of(directory, file);
  Result<SnapshotFileReader> reader = open_file(files, path, metadata, file);
  if (!reader.ok()) return reader.status();
  Result<std::optional<SnapshotIndex>> index = reader->read_index();
  if (!index.ok()) return index.status();
  if (!*index) return std::optional<IndexedFile>();
  if (reader->summary() != SnapshotFileSummary{file.bytes, file.hash}) {
    return foreign(path, metadata, reader->head());
  }
  return std::optional(IndexedFile{std::move(*reader), std::move(**index)});
}

Status CheckpointStore::verify_at(Files& files, const std::string& path,
                                  const CheckpointMetadata& metadata) {
  for (const CheckpointFile& file : metadata.files) {
    HUMMER_TRY(
        read_parts(files, path, metadata, file, [](const SnapshotPart&) { return Status(); }));
  }
  return {};
}

Result<CheckpointMetadata> CheckpointStore::newest(std::vector<SkippedCheckpoint>& skipped,
                                                   std::uint64_t from, bool verify_files,
                                                   const std::string& job_name) const {
  const Result<std::vector<std::uint64_t>> all = ids();
  if (!all.ok()) return all.status();
  for (std::size_t i = all->size(); i-- > 0;) {
    const std::uint64_t id = (*all)[i];
    if (id < from) break;
    Result<CheckpointMetadata> metadata = read(id);
    Status status = metadata.status();
    if (status.ok() && !job_name.empty() && metadata->job_name != job_name) {
      status = {ErrorCode::invalid_configuration, "'" + path_of(id) + "' is of a job named '" +
                                                      metadata->job_name + "', not '" + job_name +
                                                      "'"};
    }
    if (status.ok() && verify_files) status = verify(*metadata);
    if (status.ok()) return metadata;
    skipped.push_back({id, std::move(status)});
  }
  return Status(ErrorCode::not_found, "no complete checkpoint in '" + directory_ + "'");
}

}  // namespace hummer
