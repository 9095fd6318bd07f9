#include "platform/simulated_files.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

// Absolute, without ".", ".." and doubled slashes; a relative path is relative to the root.
std::string normal(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string result;
  for (const std::string_view part : parts) result.append("/").append(part);
  return result.empty() ? "/" : result;
}

Status failure(ErrorCode code, const std::string& doing, const std::string& path,
               const std::string& why) {
  return {code, "cannot " + doing + " '" + path + "': " + why};
}

Status killed() { return {ErrorCode::cancelled, "the process was killed"}; }

// How many of `wanted` more bytes the disk has room for.
std::uint64_t room_for(Simulation& simulation, const SimulatedDisk& disk, std::uint64_t wanted) {
  const std::uint64_t capacity = simulation.options().disk_capacity_bytes;
  if (capacity == UINT64_MAX) return wanted;
  const std::uint64_t used = disk.used_bytes();
  return std::min<std::uint64_t>(wanted, used < capacity ? capacity - used : 0);
}

void make_durable(SimulatedFileData& file) {
  if (file.emptied_since_sync || file.updated_since_sync) file.durable.clear();
  file.emptied_since_sync = false;
  file.updated_since_sync = false;
  file.shortest_since_sync = SIZE_MAX;
  file.durable.append(file.content, file.durable.size());
}

// What every operation begins with: it takes time, and a killed process does none.
Status begin_operation(SimulatedPlatform& node, const char* what, std::uint64_t number) {
  if (!node.begin_disk_operation()) return killed();
  Simulation& simulation = node.simulation();
  simulation.trace(what, number);
  simulation.charge(simulation.options().disk_operation_minimum_ns,
                    simulation.options().disk_operation_maximum_ns);
  return {};
}

// Of an operation on an open file: whether it may take place at all.
Status begin_write(SimulatedPlatform& node, const std::string& path, const char* what,
                   std::uint64_t number) {
  HUMMER_TRY(begin_operation(node, what, number));
  Simulation& simulation = node.simulation();
  if (!simulation.random().chance(simulation.options().write_fault_rate)) return {};
  simulation.count_write_fault();
  return failure(ErrorCode::io_error, "write", path, "simulated fault");
}

Result<std::size_t> read_content(SimulatedPlatform& node, const std::string& path,
                                 const std::string& content, std::uint64_t offset,
                                 std::span<char> into) {
  HUMMER_TRY(begin_operation(node, "read", offset));
  Simulation& simulation = node.simulation();
  if (simulation.random().chance(simulation.options().read_fault_rate)) {
    return failure(ErrorCode::io_error, "read", path, "simulated fault");
  }
  if (offset >= content.size()) return std::size_t{0};
  return content.copy(into.data(), into.size(), offset);
}

class SimulatedMapping final : public Mapping {
 public:
  SimulatedMapping(std::shared_ptr<SimulatedFileData> file, std::size_t offset, std::size_t length)
      : file_(std::move(file)), end_(offset + length), size_(length) {
    copy_.reserve(length + readable_past_end);
    copy_.assign(file_->content, offset, length);
    copy_.append(readable_past_end, '\0');
  }
  const char* data() const override { return copy_.data(); }
  std::size_t size() const override { return size_; }
  bool truncated() const override { return file_->content.size() < end_; }
  void prefault(std::size_t, std::size_t) override {}
  void release_before(std::size_t) override {}

 private:
  std::shared_ptr<SimulatedFileData> file_;
  std::size_t end_;
  std::size_t size_;
  std::string copy_;
};

class SimulatedReadableFile final : public ReadableFile {
 public:
  SimulatedReadableFile(SimulatedPlatform& node, std::shared_ptr<SimulatedFileData> file,
                        std::string path)
      : node_(node),
        file_(std::move(file)),
        path_(std::move(path)),
        size_bytes_(file_->content.size()) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return size_bytes_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return read_content(node_, path_, file_->content, offset, into);
  }

  Result<std::unique_ptr<Mapping>> map(std::uint64_t offset, std::size_t length) override {
    if (!node_.alive()) return killed();
    const std::uint64_t size = file_->content.size();
    if (offset > size || length > size - offset) {
      return failure(ErrorCode::file_changed, "map", path_,
                     "it has " + std::to_string(size) + " bytes");
    }
    return std::unique_ptr<Mapping>(std::make_unique<SimulatedMapping>(file_, offset, length));
  }

  void advise_sequential() override {}

 private:
  SimulatedPlatform& node_;
  std::shared_ptr<SimulatedFileData> file_;
  std::string path_;
  std::uint64_t size_bytes_;
};

class SimulatedWritableFile final : public WritableFile {
 public:
  SimulatedWritableFile(SimulatedPlatform& node, std::shared_ptr<SimulatedDisk> disk,
                        std::shared_ptr<SimulatedFileData> file, std::string path)
      : node_(node), disk_(std::move(disk)), file_(std::move(file)), path_(std::move(path)) {
    ++file_->writers;
  }
  ~SimulatedWritableFile() override { --file_->writers; }

  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return file_->content.size(); }

  Status append(std::string_view bytes) override {
    HUMMER_TRY(begin("append", bytes.size()));
    const std::uint64_t room = room_for(node_.simulation(), *disk_, bytes.size());
    file_->content.append(bytes.data(), room);
    file_->modified_ms = node_.wall_time_ms();
    if (room == bytes.size()) return {};
    node_.simulation().count_full_disk();
    return failure(ErrorCode::disk_full, "write", path_, "no space left on device");
  }

  Status sync() override {
    HUMMER_TRY(begin("sync", file_->content.size()));
    make_durable(*file_);
    return {};
  }

  Status close() override {
    if (!node_.alive()) return killed();
    closed_ = true;
    return {};
  }

 private:
  Status begin(const char* what, std::uint64_t number) {
    if (!node_.alive()) return killed();
    if (closed_) return failure(ErrorCode::invalid_argument, "write", path_, "it was closed");
    return begin_write(node_, path_, what, number);
  }

  SimulatedPlatform& node_;
  std::shared_ptr<SimulatedDisk> disk_;
  std::shared_ptr<SimulatedFileData> file_;
  std::string path_;
  bool closed_ = false;
};

class SimulatedUpdatableFile final : public UpdatableFile {
 public:
  SimulatedUpdatableFile(SimulatedPlatform& node, std::shared_ptr<SimulatedDisk> disk,
                         std::shared_ptr<SimulatedFileData> file, std::string path)
      : node_(node), disk_(std::move(disk)), file_(std::move(file)), path_(std::move(path)) {}

  const std::string& path() const override { return path_; }

  Result<std::uint64_t> size_bytes() const override {
    if (!node_.alive()) return killed();
    return std::uint64_t{file_->content.size()};
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return read_content(node_, path_, file_->content, offset, into);
  }

  Status write_at(std::uint64_t offset, std::string_view bytes) override {
    HUMMER_TRY(begin_write(node_, path_, "write", offset));
    const std::uint64_t end = offset + bytes.size(), size = file_->content.size();
    const std::uint64_t growth = end > size ? end - size : 0;
    const std::uint64_t room = room_for(node_.simulation(), *disk_, growth);
    const bool full = room < growth;
    if (full) bytes = bytes.substr(0, size + room > offset ? size + room - offset : 0);
    if (file_->content.size() < offset + bytes.size() && !bytes.empty()) {
      file_->content.resize(offset + bytes.size(), '\0');
    }
    bytes.copy(file_->content.data() + offset, bytes.size());
    changed();
    if (full) node_.simulation().count_full_disk();
    return full ? failure(ErrorCode::disk_full, "write", path_, "no space left on device")
                : Status();
  }

  Status truncate(std::uint64_t size_bytes) override {
    HUMMER_TRY(begin_write(node_, path_, "truncate", size_bytes));
    file_->content.resize(size_bytes, '\0');
    file_->shortest_since_sync = std::min<std::size_t>(file_->shortest_since_sync, size_bytes);
    changed();
    return {};
  }

  Status sync() override {
    HUMMER_TRY(begin_write(node_, path_, "sync", file_->content.size()));
    make_durable(*file_);
    return {};
  }

 private:
  void changed() {
    file_->updated_since_sync = true;
    file_->modified_ms = node_.wall_time_ms();
  }

  SimulatedPlatform& node_;
  std::shared_ptr<SimulatedDisk> disk_;
  std::shared_ptr<SimulatedFileData> file_;
  std::string path_;
};

class SimulatedFileLock final : public FileLock {
 public:
  SimulatedFileLock(SimulatedPlatform& node, std::shared_ptr<SimulatedFileData> file)
      : file_(std::move(file)) {
    file_->lock = this;
    file_->locked_by = &node;
  }
  ~SimulatedFileLock() override {
    if (file_->lock == this) file_->lock = nullptr;
  }

 private:
  std::shared_ptr<SimulatedFileData> file_;
};

}  // namespace

Status SimulatedFiles::begin(const char* what) { return begin_operation(node_, what, 0); }

Status SimulatedFiles::begin_change(const char* what, const std::string& path) {
  HUMMER_TRY(begin(what));
  Simulation& simulation = node_.simulation();
  // No draw where there are no such faults: the runs of seeds from before stay as they are.
  const double rate = simulation.options().name_fault_rate;
  if (rate == 0 || !simulation.random().chance(rate)) return {};
  simulation.count_name_fault();
  return failure(ErrorCode::io_error, what, path, "simulated fault");
}

Status SimulatedFiles::check_parent(const std::string& path, const std::string& doing) const {
  const SimulatedEntry* parent = disk_->find(parent_of(normal(path)));
  if (parent != nullptr && parent->file == nullptr) return {};
  return failure(ErrorCode::not_found, doing, path, "no such directory");
}

Result<std::unique_ptr<ReadableFile>> SimulatedFiles::open_for_reading(const std::string& path) {
  HUMMER_TRY(begin("open"));
  const SimulatedEntry* entry = disk_->find(normal(path));
  if (entry == nullptr) return failure(ErrorCode::not_found, "open", path, "no such file");
  if (entry->file == nullptr) {
    return failure(ErrorCode::not_a_file, "read", path, "it is a directory");
  }
  return std::unique_ptr<ReadableFile>(
      std::make_unique<SimulatedReadableFile>(node_, entry->file, path));
}

Result<std::unique_ptr<WritableFile>> SimulatedFiles::open_for_writing(const std::string& path,
                                                                       WriteMode mode) {
  HUMMER_TRY(begin("open for writing"));
  HUMMER_TRY(check_parent(path, "open for writing"));
  const std::string name = normal(path);
  const SimulatedEntry* entry = disk_->find(name);
  if (entry != nullptr && entry->file == nullptr) {
    return failure(ErrorCode::not_a_file, "open for writing", path, "it is a directory");
  }
  if (entry != nullptr && mode == WriteMode::create_new) {
    return failure(ErrorCode::invalid_argument, "open for writing", path, "it exists");
  }
  std::shared_ptr<SimulatedFileData> file = entry != nullptr ? entry->file : nullptr;
  if (file == nullptr) {
    file = std::make_shared<SimulatedFileData>();
    disk_->put(name, {file});
  } else if (mode == WriteMode::truncate) {
    file->content.clear();
    file->emptied_since_sync = true;
  }
  file->modified_ms = node_.wall_time_ms();
  return std::unique_ptr<WritableFile>(
      std::make_unique<SimulatedWritableFile>(node_, disk_, std::move(file), path));
}

Result<std::shared_ptr<SimulatedFileData>> SimulatedFiles::open_data(const std::string& path,
                                                                     bool create) {
  HUMMER_TRY(begin("open for updating"));
  HUMMER_TRY(check_parent(path, "open for writing"));
  const std::string name = normal(path);
  const SimulatedEntry* entry = disk_->find(name);
  if (entry != nullptr && entry->file == nullptr) {
    return failure(ErrorCode::not_a_file, "open for writing", path, "it is a directory");
  }
  if (entry != nullptr) return entry->file;
  if (!create) return failure(ErrorCode::not_found, "open for writing", path, "no such file");
  auto file = std::make_shared<SimulatedFileData>();
  file->modified_ms = node_.wall_time_ms();
  disk_->put(name, {file});
  return file;
}

Result<std::unique_ptr<UpdatableFile>> SimulatedFiles::open_for_updating(const std::string& path,
                                                                         bool create) {
  Result<std::shared_ptr<SimulatedFileData>> file = open_data(path, create);
  if (!file.ok()) return file.status();
  return std::unique_ptr<UpdatableFile>(
      std::make_unique<SimulatedUpdatableFile>(node_, disk_, std::move(*file), path));
}

Result<std::unique_ptr<FileLock>> SimulatedFiles::lock(const std::string& path) {
  Result<std::shared_ptr<SimulatedFileData>> file = open_data(path, true);
  if (!file.ok()) return file.status();
  if (!node_.simulation().options().disks_have_locks) {
    return failure(ErrorCode::invalid_configuration, "lock", path,
                   "no locks available (its file system has no locks)");
  }
  if ((*file)->lock != nullptr && (*file)->locked_by->alive()) return std::unique_ptr<FileLock>();
  return std::unique_ptr<FileLock>(std::make_unique<SimulatedFileLock>(node_, std::move(*file)));
}

Result<FileInformation> SimulatedFiles::stat(const std::string& path) {
  HUMMER_TRY(begin("stat"));
  const SimulatedEntry* entry = disk_->find(normal(path));
  if (entry == nullptr) return failure(ErrorCode::not_found, "look at", path, "no such file");
  if (entry->file == nullptr) return FileInformation{true, false, 0, 0};
  return FileInformation{false, true, entry->file->content.size(), entry->file->modified_ms};
}

Result<std::vector<std::string>> SimulatedFiles::list_directory(const std::string& path) {
  HUMMER_TRY(begin("list"));
  const std::string directory = normal(path);
  const SimulatedEntry* entry = disk_->find(directory);
  if (entry == nullptr || entry->file != nullptr) {
    return failure(ErrorCode::not_found, "list", path, "no such directory");
  }
  const std::string prefix = directory == "/" ? directory : directory + "/";
  const SimulatedDisk::Names& all = disk_->names();
  std::vector<std::string> names;
  for (auto at = all.upper_bound(prefix); at != all.end() && at->first.starts_with(prefix);) {
    const std::size_t deeper = at->first.find('/', prefix.size());
    if (deeper == std::string::npos) {
      names.push_back(at->first.substr(prefix.size()));
      ++at;
    } else {  // behind all that is in that directory
      at = all.lower_bound(at->first.substr(0, deeper) + static_cast<char>('/' + 1));
    }
  }
  return names;
}

Status SimulatedFiles::rename(const std::string& from, const std::string& to) {
  HUMMER_TRY(begin_change("rename", from));
  HUMMER_TRY(check_parent(to, "rename"));
  const SimulatedEntry* source = disk_->find(normal(from));
  const SimulatedEntry* target = disk_->find(normal(to));
  if (source == nullptr) return failure(ErrorCode::not_found, "rename", from, "no such file");
  if (target != nullptr && (target->file == nullptr) != (source->file == nullptr)) {
    return failure(ErrorCode::not_a_file, "rename", to, "one of the two is a directory");
  }
  disk_->rename(normal(from), normal(to));
  return {};
}

Status SimulatedFiles::rename_new(const std::string& from, const std::string& to) {
  HUMMER_TRY(begin("rename without replacing"));
  HUMMER_TRY(check_parent(to, "rename"));
  const SimulatedEntry* source = disk_->find(normal(from));
  if (source == nullptr) return failure(ErrorCode::not_found, "rename", from, "no such file");
  if (source->file == nullptr) {
    return failure(ErrorCode::not_a_file, "rename", from, "it is a directory");
  }
  if (disk_->find(normal(to)) != nullptr) {
    return failure(ErrorCode::invalid_argument, "rename", from + "' to '" + to,
                   "the latter exists");
  }
  disk_->rename(normal(from), normal(to));
  return {};
}

Status SimulatedFiles::remove(const std::string& path) {
  HUMMER_TRY(begin_change("remove", path));
  const std::string name = normal(path);
  const SimulatedEntry* entry = disk_->find(name);
  if (entry == nullptr) return failure(ErrorCode::not_found, "remove", path, "no such file");
  if (entry->file == nullptr) {
    const auto next = disk_->names().upper_bound(name + "/");
    if (name == "/" || (next != disk_->names().end() && parent_of(next->first) == name)) {
      return failure(ErrorCode::invalid_argument, "remove", path, "the directory is not empty");
    }
  }
  if (entry->file != nullptr && entry->file->writers > 0) node_.simulation().count_nameless_file();
  disk_->remove(name);
  return {};
}

Result<bool> SimulatedFiles::make_directory(const std::string& path) {
  HUMMER_TRY(begin_change("create directory", path));
  const std::string name = normal(path);
  if (disk_->find(name) != nullptr) return false;
  HUMMER_TRY(check_parent(path, "create directory"));
  disk_->put(name, {});
  return true;
}

Status SimulatedFiles::sync_directory(const std::string& path) {
  HUMMER_TRY(begin_change("sync directory", path));
  const SimulatedEntry* entry = disk_->find(normal(path));
  if (entry == nullptr || entry->file != nullptr) {
    return failure(ErrorCode::not_found, "sync", path, "no such directory");
  }
  disk_->sync_names(normal(path));
  return {};
}

void SimulatedFiles::truncate(const std::string& path, std::uint64_t size_bytes) {
  const SimulatedEntry* entry = disk_->find(normal(path));
  HUMMER_ASSERT(entry != nullptr && entry->file != nullptr);
  if (size_bytes < entry->file->content.size()) entry->file->content.resize(size_bytes);
  if (size_bytes < entry->file->durable.size()) entry->file->durable.resize(size_bytes);
}

}  // namespace hummer
