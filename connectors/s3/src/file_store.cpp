// FileStore over an object store; see connectors/s3/include/hummer/s3/files.hpp.
#include <algorithm>
#include <memory>
#include <utility>

#include <hummer/s3/client.hpp>
#include <hummer/s3/files.hpp>

#include "fetcher.hpp"
#include "upload_handle.hpp"

namespace hummer::s3 {
namespace {

constexpr std::size_t first_part_bytes = 5 << 20;
constexpr int parts_of_a_size = 1000;
constexpr std::size_t most_note_bytes = 64 << 20;

// With or without the scheme, of which whoever tidies paths leaves "s3:/".
Result<Place> place_in_store(const std::string& path) {
  std::string_view rest = path;
  if (rest.starts_with("s3:/")) rest.remove_prefix(3);
  while (rest.starts_with('/')) rest.remove_prefix(1);
  Result<Place> place = parse_place("s3://" + std::string(rest));
  if (place.ok()) {
    while (place->key.starts_with('/')) place->key.erase(0, 1);
  }
  return place;
}

Result<Place> directory_in_store(const std::string& path) {
  Result<Place> place = place_in_store(path);
  if (!place.ok()) return place;
  std::string& key = place->key;
  while (key.ends_with('/')) key.pop_back();
  if (!key.empty()) key += "/";
  return place;
}

// Of a name below the directory that is listed.
bool is_hidden(std::string_view name) {
  while (!name.empty()) {
    if (name.front() == '.' || name.front() == '_') return true;
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
  return true;  // what tools make for a directory
}

class ObjectLister final : public FileLister {
 public:
  // `path`: the directory as its job's author has written it, with which paths begin.
  ObjectLister(Client& client, Place directory, std::string path)
      : client_(client), directory_(std::move(directory)), path_(std::move(path)) {
    while (path_.ends_with('/')) path_.pop_back();
  }

  Step next(std::vector<StoredFile>& files) override {
    Result<Listing> page = client_.list(directory_.bucket, directory_.key, {}, from_);
    if (!page.ok()) {
      failure_ = page.status();
      return Step::failed;
    }
    for (Object& object : page->objects) {
      const std::string_view name =
          std::string_view(object.key).substr(std::min(directory_.key.size(), object.key.size()));
      if (is_hidden(name)) continue;
      files.push_back({path_ + "/" + std::string(name), object.size_bytes, object.modified_ms,
                       std::move(object.etag)});
    }
    from_ = std::move(page->next);
    return from_.empty() ? Step::done : Step::more;
  }
  Status failure() const override { return failure_; }

 private:
  Client& client_;
  const Place directory_;
  std::string path_;
  std::string from_;
  Status failure_;
};

class ObjectFileReader final : public StoreReader {
 public:
  ObjectFileReader(Fetcher& fetcher, Place place, const StoredFile& file,
                   std::function<void()> wake)
      : pieces_(fetcher, std::move(place), file.version, file.size_bytes, std::move(wake)) {}
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return pieces_.read_at(offset, into);
  }
  bool is_at_hand(std::uint64_t offset, std::size_t length) override {
    return pieces_.are_at_hand(offset, length);
  }

 private:
  ObjectPieces pieces_;
};

class ObjectFileUpload final : public FileUpload {
 public:
  ObjectFileUpload(Client& client, Upload upload) : client_(client) {
    handle_.upload = std::move(upload);
  }
  ~ObjectFileUpload() override {
    if (!finished_) (void)client_.abort(handle_.upload);
  }
  ObjectFileUpload(const ObjectFileUpload&) = delete;
  ObjectFileUpload& operator=(const ObjectFileUpload&) = delete;

  Status append(std::string_view bytes) override {
    if (finished_) return {ErrorCode::invalid_argument, "nothing can be appended behind finish"};
    buffer_.append(bytes);
    return buffer_.size() < part_bytes() ? Status() : put_part();
  }
  Result<std::string> finish() override {
    if (!buffer_.empty() || handle_.parts.empty()) HUMMER_TRY(put_part());
    finished_ = true;
    return encode(handle_);
  }
  Result<std::string> save() override {
    return Status(ErrorCode::invalid_argument, "uploads to an object store end with a checkpoint");
  }

 private:
  // A store takes 10,000 parts: 275 GB so.
  std::size_t part_bytes() const {
    return first_part_bytes * (handle_.parts.size() / parts_of_a_size + 1);
  }
  Status put_part() {
    Result<Part> part =
        client_.put_part(handle_.upload, static_cast<int>(handle_.parts.size()) + 1, buffer_);
    if (!part.ok()) return part.status();
    handle_.parts.push_back(std::move(*part));
    buffer_.clear();
    return {};
  }

  Client& client_;
  UploadHandle handle_;
  std::string buffer_;
  bool finished_ = false;
};

class ObjectFileStore final : public FileStore {
 public:
  explicit ObjectFileStore(std::unique_ptr<Client> client)
      : client_(std::move(client)), fetcher_(*client_) {}

  Result<std::unique_ptr<FileLister>> list(const std::string& directory,
                                           std::function<void()> /*wake*/) override {
    Result<Place> place = directory_in_store(directory);
    if (!place.ok()) return place.status();
    return std::unique_ptr<FileLister>(std::make_unique<ObjectLister>(*client_, *place, directory));
  }
  Result<StoredFile> look_at(const std::string& path) override {
    const Result<Place> place = place_in_store(path);
    if (!place.ok()) return place.status();
    const Result<Object> object = client_->head(*place);
    if (!object.ok()) return object.status();
    return StoredFile{path, object->size_bytes, object->modified_ms, object->etag};
  }
  Result<std::unique_ptr<StoreReader>> open(const StoredFile& file,
                                            std::function<void()> wake) override {
    const Result<Place> place = place_in_store(file.path);
    if (!place.ok()) return place.status();
    const Result<StoredFile> now = look_at(file.path);
    if (!now.ok()) return now.status();
    if (now->size_bytes != file.size_bytes ||
        (!file.version.empty() && now->version != file.version)) {
      return Status(ErrorCode::file_changed,
                    "'" + file.path + "' is not what it was when it was found");
    }
    return std::unique_ptr<StoreReader>(
        std::make_unique<ObjectFileReader>(fetcher_, *place, *now, std::move(wake)));
  }
  bool files_appear_whole() const override { return true; }

  Status prepare_directory(const std::string& directory) override {
    const Result<Place> place = directory_in_store(directory);
    if (!place.ok()) return place.status();
    // Whether it may be written to, the first upload says; one that begins costs nothing.
    Result<Upload> upload = client_->begin_upload({place->bucket, place->key + ".may-write"});
    return upload.ok() ? client_->abort(*upload) : upload.status();
  }
  Result<std::unique_ptr<FileUpload>> begin_upload(const std::string& directory,
                                                   const std::string& name) override {
    const Result<Place> place = directory_in_store(directory);
    if (!place.ok()) return place.status();
    Result<Upload> upload = client_->begin_upload({place->bucket, place->key + name});
    if (!upload.ok()) return upload.status();
    return std::unique_ptr<FileUpload>(
        std::make_unique<ObjectFileUpload>(*client_, std::move(*upload)));
  }
  bool can_save() const override { return false; }
  Result<std::string> finish_saved(const std::string& /*token*/) override {
    return Status(ErrorCode::invalid_argument, "an object store saves no uploads");
  }
  Status publish(const std::string& handle) override {
    const Result<UploadHandle> upload = decode_handle(handle);
    if (!upload.ok()) return upload.status();
    // Not all stores heed a condition here.
    const Result<bool> own = client_->has_become(upload->upload);
    if (own.ok() && *own) return {};
    if (own.ok()) {
      return {ErrorCode::invalid_argument,
              "'" + upload->upload.place.text() + "' is there already, and of another upload"};
    }
    if (own.status().code() != ErrorCode::not_found) return own.status();
    return client_->complete(upload->upload, upload->parts, {.only_new = true});
  }
  Status abort(const std::string& handle) override {
    const Result<UploadHandle> upload = decode_handle(handle);
    return upload.ok() ? client_->abort(upload->upload) : upload.status();
  }
  Result<std::vector<PendingUpload>> pending_uploads(const std::string& directory) override {
    const Result<Place> place = directory_in_store(directory);
    if (!place.ok()) return place.status();
    const auto uploads = client_->uploads(place->bucket, place->key);
    if (!uploads.ok()) return uploads.status();
    std::vector<PendingUpload> pending;
    for (const Upload& upload : *uploads) {
      const std::string& key = upload.place.key;
      pending.push_back({key.substr(key.rfind('/') + 1), encode({upload, {}})});
    }
    return pending;
  }
  Status hide(const std::string& path, const std::string& to) override {
    const Result<Place> from = place_in_store(path);
    if (!from.ok()) return from.status();
    const Result<Place> into = place_in_store(to);
    if (!into.ok()) return into.status();
    const Result<Object> there = client_->head(*into);
    if (there.ok()) return {ErrorCode::invalid_argument, "'" + to + "' exists already"};
    if (there.status().code() != ErrorCode::not_found) return there.status();
    HUMMER_TRY(client_->copy(*from, *into));
    return client_->remove(*from);
  }

  Status put(const std::string& path, std::string_view bytes) override {
    const Result<Place> place = place_in_store(path);
    return place.ok() ? client_->put(*place, bytes).status() : place.status();
  }
  Result<std::string> get(const std::string& path, std::size_t most_bytes) override {
    const Result<Place> place = place_in_store(path);
    if (!place.ok()) return place.status();
    for (;;) {
      const Result<Object> object = client_->head(*place);
      if (!object.ok()) return object.status();
      if (object->size_bytes > std::min(most_bytes, most_note_bytes)) {
        return Status(ErrorCode::limit_exceeded,
                      "'" + path + "' has more than " + std::to_string(most_bytes) + " bytes");
      }
      std::string bytes(object->size_bytes, '\0');
      const auto got = client_->get(*place, 0, {bytes.data(), bytes.size()}, object->etag);
      // Another subtask has replaced it meanwhile: the new one is as good.
      if (got.status().code() == ErrorCode::file_changed) continue;
      if (!got.ok()) return got.status();
      bytes.resize(*got);
      return bytes;
    }
  }
  Result<std::vector<std::string>> notes(const std::string& directory,
                                         const std::string& folder) override {
    const Result<Place> place = directory_in_store(directory + "/" + folder);
    if (!place.ok()) return place.status();
    std::vector<std::string> names;
    for (std::string from;;) {
      Result<Listing> page = client_->list(place->bucket, place->key, "/", from);
      if (!page.ok()) return page.status();
      for (const Object& object : page->objects) {
        std::string name = object.key.substr(std::min(place->key.size(), object.key.size()));
        if (!name.empty()) names.push_back(std::move(name));
      }
      if (page->next.empty()) return names;
      from = page->next;
    }
  }

 private:
  std::unique_ptr<Client> client_;
  Fetcher fetcher_;  // ends ahead of its client
};

class ObjectFileStoreFactory final : public FileStoreFactory {
 public:
  explicit ObjectFileStoreFactory(Settings settings) : settings_(std::move(settings)) {}
  Result<std::unique_ptr<FileStore>> make(OperatorContext& /*context*/) const override {
    Result<std::unique_ptr<Client>> client = Client::make(settings_);
    if (!client.ok()) return client.status();
    return std::unique_ptr<FileStore>(std::make_unique<ObjectFileStore>(std::move(*client)));
  }
  CapturedValues captured() const override {
    return encoded_values(
        std::vector<std::string>{settings_.endpoint, settings_.region, settings_.profile},
        static_cast<std::uint8_t>(settings_.addressing));
  }

 private:
  const Settings settings_;
};

}  // namespace

std::shared_ptr<const FileStoreFactory> files(Settings settings) {
  return std::make_shared<ObjectFileStoreFactory>(std::move(settings));
}

}  // namespace hummer::s3
