#include "connectors/file_store/local_file_store.hpp"

#include <algorithm>
#include <utility>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/key_hash.hpp>

namespace hummer {
namespace {

constexpr std::size_t version_sample_bytes = 4096;
constexpr std::size_t files_per_page = 1000;
// Deeper than any sane tree; a symbolic link to a directory above ends here.
constexpr std::size_t deepest = 100;
constexpr std::size_t copy_bytes = 256 << 10;
constexpr std::string_view pending_suffix = ".pending";
constexpr std::string_view whole_suffix = ".whole";
constexpr std::string_view put_suffix = ".put";

std::string path_in(const std::string& directory, std::string_view name) {
  if (directory.ends_with('/')) return directory + std::string(name);
  return directory + "/" + std::string(name);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What is known of an upload, wherever it is asked for.
struct UploadHandle {
  std::string directory;
  std::string name;
  std::uint64_t bytes = 0;
  std::string hidden;  // in own_folder

  std::string hidden_path() const { return path_in(path_in(directory, own_folder), hidden); }
  std::string path() const { return path_in(directory, name); }
};

std::string to_text(const UploadHandle& handle) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put_value(std::uint8_t{1});  // version
  out.put_text(handle.directory);
  out.put_text(handle.name);
  out.put_value(handle.bytes);
  out.put_text(handle.hidden);
  return std::string(out.view());
}

Result<UploadHandle> upload_from(std::string_view bytes) {
  ByteReader in(bytes);
  std::uint8_t version = 0;
  std::string_view directory, name, hidden;
  UploadHandle handle;
  const bool valid = in.get_value(version) && version == 1 && in.get_text(directory) &&
                     in.get_text(name) && in.get_value(handle.bytes) && in.get_text(hidden) &&
                     in.left() == 0 && !name.empty() && !hidden.empty();
  if (!valid) return Status(ErrorCode::corrupt_record, "this is no upload of a local directory");
  handle.directory = directory;
  handle.name = name;
  handle.hidden = hidden;
  return handle;
}

Status other_file(const std::string& path, const std::string& what) {
  return {ErrorCode::file_changed, "'" + path + "' is not the file that was taken: " + what};
}

Result<std::string> sampled_version(ReadableFile& file) {
  const std::uint64_t size = file.size_bytes();
  std::string sample(2 * version_sample_bytes, '\0');
  const Result<std::size_t> first = file.read_at(0, std::span(sample).first(version_sample_bytes));
  if (!first.ok()) return first.status();
  const std::uint64_t last_at = size - std::min<std::uint64_t>(size, version_sample_bytes);
  const Result<std::size_t> last =
      file.read_at(last_at, std::span(sample).subspan(*first, version_sample_bytes));
  if (!last.ok()) return last.status();
  return std::to_string(hash_bytes(sample.data(), *first + *last));
}

// A directory a page, or a part of one.
class LocalLister final : public FileLister {
 public:
  LocalLister(Files& files, std::string directory) : files_(files) {
    left_.push_back({std::move(directory), 0});
  }

  Step next(std::vector<StoredFile>& files) override {
    if (at_ == names_.size() && !begin_directory()) {
      return failure_.ok() ? Step::done : Step::failed;
    }
    const std::size_t end = std::min(names_.size(), at_ + files_per_page);
    for (; at_ < end; ++at_) {
      if (names_[at_].starts_with('.') || names_[at_].starts_with('_')) continue;
      const std::string path = path_in(directory_.path, names_[at_]);
      const Result<FileInformation> found = files_.stat(path);
      if (found.status().code() == ErrorCode::not_found) continue;  // gone meanwhile
      if (!found.ok()) return fail(found.status());
      if (found->is_directory) left_.push_back({path, directory_.depth + 1});
      if (found->is_regular) files.push_back({path, found->size_bytes, found->modified_ms, {}});
    }
    return Step::more;
  }
  Status failure() const override { return failure_; }

 private:
  struct Directory {
    std::string path;
    std::size_t depth;
  };

  bool begin_directory() {
    if (left_.empty()) return false;
    directory_ = std::move(left_.back());
    left_.pop_back();
    at_ = 0;
    names_.clear();
    if (directory_.depth == deepest) {
      failure_ = {ErrorCode::limit_exceeded,
                  "directories more than " + std::to_string(deepest) + " deep at '" +
                      directory_.path + "': does a symbolic link point to a directory above it?"};
      return false;
    }
    Result<std::vector<std::string>> names = files_.list_directory(directory_.path);
    if (names.ok()) {
      names_ = std::move(*names);
    } else if (names.status().code() != ErrorCode::not_found || directory_.depth == 0) {
      failure_ = names.status();
      return false;
    }
    return true;
  }
  Step fail(const Status& status) {
    failure_ = status;
    return Step::failed;
  }

  Files& files_;
  std::vector<Directory> left_;
  Directory directory_{};
  std::vector<std::string> names_;
  std::size_t at_ = 0;
  Status failure_;
};

class LocalReader final : public StoreReader {
 public:
  explicit LocalReader(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {
    file_->advise_sequential();
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return file_->read_at(offset, into);
  }

 private:
  std::unique_ptr<ReadableFile> file_;
};

class LocalUpload final : public FileUpload {
 public:
  LocalUpload(Files& files, UploadHandle handle, std::unique_ptr<WritableFile> file)
      : files_(files), handle_(std::move(handle)), file_(std::move(file)) {}
  ~LocalUpload() override {
    if (kept_) return;
    file_.reset();
    (void)files_.remove(handle_.hidden_path());
  }

  Status append(std::string_view bytes) override {
    handle_.bytes += bytes.size();
    HUMMER_TRY(file_->append(bytes));
    file_->expect_sync();
    return {};
  }
  Result<std::string> finish() override {
    HUMMER_TRY(make_durable());
    HUMMER_TRY(file_->close());
    return to_text(handle_);
  }
  Result<std::string> save() override {
    HUMMER_TRY(make_durable());
    return to_text(handle_);
  }

 private:
  Status make_durable() {
    HUMMER_TRY(file_->sync());
    if (!kept_) HUMMER_TRY(files_.sync_directory(path_in(handle_.directory, own_folder)));
    kept_ = true;
    return {};
  }

  Files& files_;
  UploadHandle handle_;
  std::unique_ptr<WritableFile> file_;
  bool kept_ = false;
};

}  // namespace

// ---- reading ----

Result<std::unique_ptr<FileLister>> LocalFileStore::list(const std::string& directory,
                                                         std::function<void()>) {
  return std::unique_ptr<FileLister>(std::make_unique<LocalLister>(files_, directory));
}

Result<StoredFile> LocalFileStore::look_at(const std::string& path) {
  const Result<FileInformation> found = files_.stat(path);
  if (!found.ok()) return found.status();
  if (!found->is_regular) {
    return Status(ErrorCode::not_a_file, "'" + path + "' is no file that can be read");
  }
  auto opened = files_.open_for_reading(path);
  if (!opened.ok()) return opened.status();
  if ((*opened)->size_bytes() != found->size_bytes) return other_file(path, "it changes just now");
  Result<std::string> version = sampled_version(**opened);
  if (!version.ok()) return version.status();
  return StoredFile{path, found->size_bytes, found->modified_ms, std::move(*version)};
}

Result<std::unique_ptr<StoreReader>> LocalFileStore::open(const StoredFile& file,
                                                          std::function<void()>) {
  auto opened = files_.open_for_reading(file.path);
  if (!opened.ok()) return opened.status();
  // Behind opening it, so that what is opened is what is looked at.
  const Result<FileInformation> now = files_.stat(file.path);
  if (!now.ok()) return now.status();
  if ((*opened)->size_bytes() != file.size_bytes || now->size_bytes != file.size_bytes) {
    return other_file(file.path, "it has " + std::to_string(now->size_bytes) +
                                     " bytes instead of " + std::to_string(file.size_bytes));
  }
  if (now->modified_ms != file.modified_ms) {
    return other_file(file.path, "it was changed at " + std::to_string(now->modified_ms) +
                                     " ms since 1970, not at " + std::to_string(file.modified_ms) +
                                     " (copies keep their time with cp -p or rsync -t)");
  }
  const Result<std::string> version = sampled_version(**opened);
  if (!version.ok()) return version.status();
  if (*version != file.version) {
    return other_file(file.path,
                      "size and time are the same, but not what it begins and ends with");
  }
  return std::unique_ptr<StoreReader>(std::make_unique<LocalReader>(std::move(*opened)));
}

// ---- writing ----

Status LocalFileStore::prepare_directory(const std::string& directory) {
  return files_.create_directories(path_in(directory, own_folder));
}

Result<std::unique_ptr<FileUpload>> LocalFileStore::begin_upload(const std::string& directory,
                                                                 const std::string& name) {
  UploadHandle handle{directory, name, 0, last_part(name) + std::string(pending_suffix)};
  auto opened = files_.open_for_writing(handle.hidden_path(), WriteMode::create_new);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<FileUpload>(
      std::make_unique<LocalUpload>(files_, std::move(handle), std::move(*opened)));
}

Result<std::string> LocalFileStore::finish_saved(const std::string& token) {
  Result<UploadHandle> handle = upload_from(token);
  if (!handle.ok()) return handle.status();
  const std::string from = handle->hidden_path();
  handle->hidden = last_part(handle->name) + std::string(whole_suffix);
  const Result<FileInformation> published = files_.stat(handle->path());
  // By this call before, and publish.
  if (published.ok() && published->size_bytes == handle->bytes) return to_text(*handle);
  Status copied = copy_begin(from, handle->hidden_path(), handle->bytes);
  if (copied.code() == ErrorCode::not_found && published.ok()) {
    copied = copy_begin(handle->path(), handle->hidden_path(), handle->bytes);
  }
  // Gone: publish says whether it was copied before.
  if (!copied.ok() && copied.code() != ErrorCode::not_found) return copied;
  return to_text(*handle);
}

Status LocalFileStore::copy_begin(const std::string& from, const std::string& to,
                                  std::uint64_t bytes) {
  auto source = files_.open_for_reading(from);
  if (!source.ok()) return source.status();
  auto copy = files_.open_for_writing(to, WriteMode::truncate);
  if (!copy.ok()) return copy.status();
  std::string space(copy_bytes, '\0');
  for (std::uint64_t at = 0; at < bytes;) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - at, copy_bytes));
    const Result<std::size_t> got = (*source)->read_at(at, std::span(space).first(want));
    if (!got.ok()) return got.status();
    if (*got < want) {
      return {ErrorCode::corrupt_file, "'" + from + "' ends at byte " + std::to_string(at + *got) +
                                           ", and a checkpoint says that " + std::to_string(bytes) +
                                           " bytes of it were durable"};
    }
    HUMMER_TRY((*copy)->append(std::string_view(space).substr(0, want)));
    at += want;
  }
  HUMMER_TRY((*copy)->sync());
  HUMMER_TRY((*copy)->close());
  return files_.sync_directory(parent_of(to));
}

Status LocalFileStore::publish(const std::string& bytes) {
  const Result<UploadHandle> handle = upload_from(bytes);
  if (!handle.ok()) return handle.status();
  const std::string to = handle->path();
  const std::string folder = parent_of(to);
  if (const auto there = files_.stat(handle->hidden_path()); !there.ok()) {
    if (there.status().code() != ErrorCode::not_found) return there.status();
    if (!files_.stat(to).ok()) {
      return {ErrorCode::not_found,
              "neither '" + to + "' is there nor '" + handle->hidden_path() + "'"};
    }
    return files_.sync_directory(folder);
  }
  HUMMER_TRY(files_.create_directories(folder));
  const Status moved = files_.rename_new(handle->hidden_path(), to);
  // An attempt that was cut off may publish at the same moment.
  if (moved.code() == ErrorCode::not_found && !files_.stat(to).ok()) return moved;
  if (!moved.ok() && moved.code() != ErrorCode::not_found) return moved;
  HUMMER_TRY(files_.sync_directory(folder));
  return files_.sync_directory(path_in(handle->directory, own_folder));
}

Status LocalFileStore::abort(const std::string& bytes) {
  const Result<UploadHandle> handle = upload_from(bytes);
  if (!handle.ok()) return handle.status();
  const Status removed = files_.remove(handle->hidden_path());
  return removed.code() == ErrorCode::not_found ? Status() : removed;
}

Result<std::vector<PendingUpload>> LocalFileStore::pending_uploads(const std::string& directory) {
  const auto names = files_.list_directory(path_in(directory, own_folder));
  if (!names.ok()) return names.status();
  std::vector<PendingUpload> found;
  for (const std::string& hidden : *names) {
    for (const std::string_view suffix : {pending_suffix, whole_suffix}) {
      if (!hidden.ends_with(suffix)) continue;
      const std::string name = hidden.substr(0, hidden.size() - suffix.size());
      if (!name.empty()) found.push_back({name, to_text({directory, name, 0, hidden})});
    }
  }
  return found;
}

Status LocalFileStore::hide(const std::string& path, const std::string& to) {
  HUMMER_TRY(files_.rename_new(path, to));
  return files_.sync_directory(parent_of(path));
}

// ---- notes ----

Status LocalFileStore::put(const std::string& path, std::string_view bytes) {
  const std::string folder = parent_of(path);
  const std::string hidden = path_in(folder, "." + last_part(path) + std::string(put_suffix));
  HUMMER_TRY(files_.create_directories(folder));
  auto opened = files_.open_for_writing(hidden, WriteMode::truncate);
  if (!opened.ok()) return opened.status();
  HUMMER_TRY((*opened)->append(bytes));
  HUMMER_TRY((*opened)->sync());
  HUMMER_TRY((*opened)->close());
  const Status moved = files_.rename(hidden, path);
  // Somebody put the same at the same moment.
  if (!moved.ok() && !(moved.code() == ErrorCode::not_found && files_.stat(path).ok())) {
    return moved;
  }
  return files_.sync_directory(folder);
}

Result<std::string> LocalFileStore::get(const std::string& path, std::size_t most_bytes) {
  auto opened = files_.open_for_reading(path);
  if (!opened.ok()) return opened.status();
  if ((*opened)->size_bytes() > most_bytes) {
    return Status(ErrorCode::limit_exceeded, "'" + path + "' has more than " +
                                                 std::to_string(most_bytes) +
                                                 " bytes: it is none "
                                                 "of a sink's notes");
  }
  std::string bytes(static_cast<std::size_t>((*opened)->size_bytes()), '\0');
  const Result<std::size_t> got = (*opened)->read_at(0, bytes);
  if (!got.ok()) return got.status();
  bytes.resize(*got);
  return bytes;
}

Result<std::vector<std::string>> LocalFileStore::notes(const std::string& directory,
                                                       const std::string& folder) {
  auto names = files_.list_directory(path_in(directory, folder));
  if (names.status().code() == ErrorCode::not_found) return std::vector<std::string>();
  if (!names.ok()) return names.status();
  std::erase_if(*names, [](const std::string& name) { return name.ends_with(put_suffix); });
  return names;
}

namespace {

class LocalFilesFactory final : public FileStoreFactory {
 public:
  Result<std::unique_ptr<FileStore>> make(OperatorContext& context) const override {
    return std::unique_ptr<FileStore>(
        std::make_unique<LocalFileStore>(connector_context(context).platform().files()));
  }
  CapturedValues captured() const override { return {}; }
};

}  // namespace

std::shared_ptr<const FileStoreFactory> local_files() {
  return std::make_shared<LocalFilesFactory>();
}

}  // namespace hummer
