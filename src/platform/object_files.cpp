#include "platform/object_files.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <utility>

namespace hummer {
namespace {

constexpr std::size_t least_read_bytes = 16 * 1024;
constexpr std::size_t most_read_bytes = 2 << 20;
constexpr std::size_t part_bytes = 16 << 20;
constexpr std::string_view segment_mark = ".segment@";

Status needs_disk(const std::string& path, const std::string& what) {
  return {ErrorCode::invalid_argument, "'" + path + "' is in an object store, which cannot " +
                                           what + ": name a directory on a disk"};
}

class ObjectReader final : public ReadableFile {
 public:
  // `at`, `size`: the stretch of the object that this file is.
  ObjectReader(ObjectStore& store, std::string path, std::string object, std::string version,
               std::uint64_t at, std::uint64_t size)
      : store_(store),
        path_(std::move(path)),
        object_(std::move(object)),
        version_(std::move(version)),
        at_(at),
        size_(size) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return size_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    const std::lock_guard lock(mutex_);
    if (offset >= size_) return std::size_t{0};
    into = into.first(std::min<std::uint64_t>(into.size(), size_ - offset));
    std::size_t done = take(offset, into);
    while (done < into.size()) {
      HUMMER_TRY(fetch(offset + done, into.size() - done));
      const std::size_t got = take(offset + done, into.subspan(done));
      if (got == 0) {
        return Status(ErrorCode::file_changed, "'" + path_ + "' has become shorter");
      }
      done += got;
    }
    return done;
  }

  Result<std::unique_ptr<Mapping>> map(std::uint64_t /*offset*/, std::size_t /*length*/) override {
    return Status(ErrorCode::limit_exceeded,
                  "'" + path_ + "' is in an object store, and cannot be mapped");
  }
  void advise_sequential() override {
    const std::lock_guard lock(mutex_);
    fetched_ = most_read_bytes;
  }

 private:
  std::size_t take(std::uint64_t offset, std::span<char> into) const {
    if (offset < window_at_ || offset - window_at_ >= window_.size()) return 0;
    return std::string_view(window_).substr(offset - window_at_).copy(into.data(), into.size());
  }
  Status fetch(std::uint64_t offset, std::size_t wanted) {
    // To go through a small gap costs less than a request.
    const std::uint64_t end = window_at_ + window_.size();
    const std::size_t before = std::max(fetched_, window_.size());
    const bool goes_on = offset >= end && offset - end <= before;
    fetched_ = goes_on ? std::min(most_read_bytes, before * 2) : least_read_bytes;
    const std::size_t length = std::min<std::uint64_t>(
        std::max(std::min(wanted, most_read_bytes), fetched_), size_ - offset);
    window_.resize(length);
    window_at_ = offset;
    const Result<std::size_t> got =
        store_.read(object_, version_, at_ + offset, {window_.data(), length});
    window_.resize(got.ok() ? *got : 0);
    return got.status();
  }

  ObjectStore& store_;
  const std::string path_;
  const std::string object_;
  const std::string version_;
  const std::uint64_t at_;
  const std::uint64_t size_;
  std::mutex mutex_;
  std::string window_;  // bytes of the file, from window_at_ on
  std::uint64_t window_at_ = 0;
  std::size_t fetched_ = least_read_bytes / 2;
};

class ObjectWriter final : public WritableFile {
 public:
  ObjectWriter(ObjectStore& store, std::string path, bool only_new)
      : store_(store), path_(std::move(path)), only_new_(only_new) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return size_; }

  Status append(std::string_view bytes) override {
    if (is_whole_) {
      return {ErrorCode::invalid_argument,
              "'" + path_ + "' is written: nothing can be appended to an object"};
    }
    size_ += bytes.size();
    while (!bytes.empty()) {
      const std::string_view some = bytes.substr(0, part_bytes - buffer_.size());
      buffer_.append(some);
      bytes.remove_prefix(some.size());
      if (buffer_.size() == part_bytes) HUMMER_TRY(put_part());
    }
    return {};
  }
  Status sync() override {
    if (is_whole_) return {};
    if (upload_ != nullptr) {
      if (!buffer_.empty()) HUMMER_TRY(put_part());
      HUMMER_TRY(upload_->complete());
    } else {
      HUMMER_TRY(store_.put(path_, buffer_, only_new_));
    }
    is_whole_ = true;
    buffer_ = {};
    return {};
  }
  Status close() override { return sync(); }

 private:
  Status put_part() {
    if (upload_ == nullptr) {
      auto begun = store_.begin_upload(path_);
      if (!begun.ok()) return begun.status();
      upload_ = std::move(*begun);
    }
    HUMMER_TRY(upload_->add_part(buffer_));
    buffer_.clear();
    return {};
  }

  ObjectStore& store_;
  const std::string path_;
  const bool only_new_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  bool is_whole_ = false;
  std::unique_ptr<ObjectUpload> upload_;  // null: it fits into one request so far
};

}  // namespace

std::string ObjectStretch::text() const {
  return object + "@" + std::to_string(at) + "+" + std::to_string(bytes);
}

std::optional<ObjectStretch> parse_object_stretch(std::string_view text) {
  const std::size_t mark = text.rfind(segment_mark);
  if (mark == std::string_view::npos) return std::nullopt;
  ObjectStretch stretch;
  stretch.object = text.substr(0, mark + segment_mark.size() - 1);
  const char* const begin = text.data() + mark + segment_mark.size();
  const char* const end = text.data() + text.size();
  const auto at = std::from_chars(begin, end, stretch.at);
  if (at.ec != std::errc() || at.ptr == end || *at.ptr != '+') return std::nullopt;
  const auto bytes = std::from_chars(at.ptr + 1, end, stretch.bytes);
  if (bytes.ec != std::errc() || bytes.ptr != end || stretch.bytes > UINT64_MAX - stretch.at) {
    return std::nullopt;
  }
  return stretch;
}

std::string object_of(const std::string& path) {
  std::optional<ObjectStretch> stretch = parse_object_stretch(path);
  return stretch ? std::move(stretch->object) : path;
}

Result<std::unique_ptr<ReadableFile>> ObjectFiles::open_for_reading(const std::string& path) {
  if (const auto stretch = parse_object_stretch(path)) {
    return std::unique_ptr<ReadableFile>(std::make_unique<ObjectReader>(
        *store_, path, stretch->object, "", stretch->at, stretch->bytes));
  }
  Result<ObjectInformation> there = store_->look_at(path);
  if (!there.ok()) return there.status();
  return std::unique_ptr<ReadableFile>(std::make_unique<ObjectReader>(
      *store_, path, path, std::move(there->version), 0, there->size_bytes));
}

Result<std::unique_ptr<WritableFile>> ObjectFiles::open_for_writing(const std::string& path,
                                                                    WriteMode mode) {
  if (mode == WriteMode::append) return needs_disk(path, "append to an object");
  return std::unique_ptr<WritableFile>(
      std::make_unique<ObjectWriter>(*store_, path, mode == WriteMode::create_new));
}

Result<std::unique_ptr<UpdatableFile>> ObjectFiles::open_for_updating(const std::string& path,
                                                                      bool /*create*/) {
  return needs_disk(path, "change an object in place");
}

Result<std::unique_ptr<FileLock>> ObjectFiles::lock(const std::string& path) {
  return needs_disk(path, "lock an object");
}

Result<FileInformation> ObjectFiles::stat(const std::string& path) {
  const Result<ObjectInformation> there = store_->look_at(object_of(path));
  if (there.ok()) {
    return FileInformation{
        .is_regular = true, .size_bytes = there->size_bytes, .modified_ms = there->modified_ms};
  }
  if (there.status().code() != ErrorCode::not_found) return there.status();
  const Result<std::vector<std::string>> names = store_->list(path);
  if (!names.ok()) return names.status();
  if (names->empty()) {
    return Status(ErrorCode::not_found, "there is no object '" + path + "', and nothing below it");
  }
  return FileInformation{.is_directory = true};
}

Result<std::vector<std::string>> ObjectFiles::list_directory(const std::string& path) {
  Result<std::vector<std::string>> names = store_->list(path);
  if (names.ok() && names->empty()) {
    return Status(ErrorCode::not_found, "there is nothing in '" + path + "'");
  }
  return names;
}

Status ObjectFiles::rename(const std::string& from, const std::string& /*to*/) {
  return needs_disk(from, "rename an object");
}
Status ObjectFiles::rename_new(const std::string& from, const std::string& /*to*/) {
  return needs_disk(from, "rename an object");
}
Status ObjectFiles::remove(const std::string& path) { return store_->remove({&path, 1}); }
Result<bool> ObjectFiles::make_directory(const std::string& /*path*/) { return true; }
Status ObjectFiles::sync_directory(const std::string& /*path*/) { return {}; }
Result<ObjectStore*> ObjectFiles::object_store(const std::string& /*path*/) { return store_.get(); }

}  // namespace hummer
