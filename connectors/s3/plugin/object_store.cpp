// libhummer_s3.so: the object store of paths that begin with s3://, for the engine.
//
// Its settings are those of the process's environment
// (connectors/s3/include/hummer/s3/settings.hpp).
#include "platform/object_store.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <hummer/s3/client.hpp>

namespace hummer::s3 {
namespace {

constexpr std::size_t max_names = 1'000'000;

// As a disk takes it: a '/' more in between means nothing.
Result<Place> place_of(const std::string& path) {
  Result<Place> place = parse_place(path);
  if (!place.ok()) return place;
  std::string& key = place->key;
  key.erase(std::unique(key.begin(), key.end(),
                        [](char one, char next) { return one == '/' && next == '/'; }),
            key.end());
  if (key.starts_with('/')) key.erase(0, 1);
  return place;
}

std::string as_directory(std::string key) {
  while (key.ends_with('/')) key.pop_back();
  return key.empty() ? key : key + "/";
}

class S3Upload final : public ObjectUpload {
 public:
  S3Upload(Client& client, Upload upload) : client_(client), upload_(std::move(upload)) {}
  ~S3Upload() override {
    if (!complete_) (void)client_.abort(upload_);
  }
  S3Upload(const S3Upload&) = delete;
  S3Upload& operator=(const S3Upload&) = delete;

  Status add_part(std::string_view bytes) override {
    Result<Part> part = client_.put_part(upload_, static_cast<int>(parts_.size()) + 1, bytes);
    if (!part.ok()) return part.status();
    parts_.push_back(std::move(*part));
    return {};
  }
  Status complete() override {
    HUMMER_TRY(client_.complete(upload_, parts_));
    complete_ = true;
    return {};
  }

 private:
  Client& client_;
  const Upload upload_;
  std::vector<Part> parts_;
  bool complete_ = false;
};

class S3Store final : public ObjectStore {
 public:
  explicit S3Store(std::unique_ptr<Client> client) : client_(std::move(client)) {}

  Result<ObjectInformation> look_at(const std::string& path) override {
    const Result<Place> place = place_of(path);
    if (!place.ok()) return place.status();
    // A bucket, or the mark that some tools make for a directory: an empty file to who would ask.
    if (place->key.empty() || place->key.ends_with('/')) {
      return Status(ErrorCode::not_found, "'" + path + "' is no object");
    }
    const Result<Object> object = client_->head(*place);
    if (!object.ok()) return object.status();
    return ObjectInformation{object->size_bytes, object->modified_ms, object->etag};
  }
  Result<std::size_t> read(const std::string& path, const std::string& version,
                           std::uint64_t offset, std::span<char> into) override {
    const Result<Place> place = place_of(path);
    if (!place.ok()) return place.status();
    return client_->get(*place, offset, into, version);
  }
  Status put(const std::string& path, std::string_view bytes, bool only_new) override {
    const Result<Place> place = place_of(path);
    if (!place.ok()) return place.status();
    return client_->put(*place, bytes, {.only_new = only_new}).status();
  }
  Result<std::unique_ptr<ObjectUpload>> begin_upload(const std::string& path) override {
    const Result<Place> place = place_of(path);
    if (!place.ok()) return place.status();
    Result<Upload> upload = client_->begin_upload(*place);
    if (!upload.ok()) return upload.status();
    return std::unique_ptr<ObjectUpload>(std::make_unique<S3Upload>(*client_, std::move(*upload)));
  }
  Result<std::vector<std::string>> list(const std::string& directory) override {
    const Result<Place> place = place_of(directory);
    if (!place.ok()) return place.status();
    const std::string prefix = as_directory(place->key);
    std::vector<std::string> names;
    for (std::string from;;) {
      Result<Listing> page = client_->list(place->bucket, prefix, "/", from);
      if (!page.ok()) return page.status();
      for (const Object& object : page->objects) names.push_back(object.key);
      for (std::string& each : page->prefixes) names.push_back(std::move(each));
      if (names.size() > max_names) {
        return Status(ErrorCode::limit_exceeded, "'" + directory + "' has more than " +
                                                     std::to_string(max_names) + " names in it");
      }
      if (page->next.empty()) break;
      from = page->next;
    }
    for (std::string& name : names) {
      name.erase(0, std::min(prefix.size(), name.size()));
      while (name.ends_with('/')) name.pop_back();
    }
    // What some tools make for a directory is an object with its name and a '/'.
    std::erase(names, std::string());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
  Status remove(std::span<const std::string> paths) override {
    std::map<std::string, std::vector<std::string>> by_bucket;
    for (const std::string& path : paths) {
      const Result<Place> place = place_of(path);
      if (!place.ok()) return place.status();
      by_bucket[place->bucket].push_back(place->key);
    }
    for (const auto& [bucket, keys] : by_bucket) {
      HUMMER_TRY(keys.size() == 1 ? client_->remove({bucket, keys.front()})
                                  : client_->remove(bucket, keys));
    }
    return {};
  }
  Status abort_uploads(const std::string& directory, std::int64_t begun_before_ms) override {
    const Result<Place> place = place_of(directory);
    if (!place.ok()) return place.status();
    const auto uploads = client_->uploads(place->bucket, as_directory(place->key));
    if (!uploads.ok()) return uploads.status();
    for (const Upload& upload : *uploads) {
      if (upload.begun_ms == 0 || upload.begun_ms >= begun_before_ms) continue;
      HUMMER_TRY(client_->abort(upload));
    }
    return {};
  }

 private:
  std::unique_ptr<Client> client_;
};

Result<std::unique_ptr<ObjectStore>> make_store() {
  Result<std::unique_ptr<Client>> client = Client::make({});
  if (!client.ok()) return client.status();
  return std::unique_ptr<ObjectStore>(std::make_unique<S3Store>(std::move(*client)));
}

}  // namespace
}  // namespace hummer::s3

extern "C" {
extern const hummer::ObjectStorePlugin hummer_object_store;
const hummer::ObjectStorePlugin hummer_object_store = {
    .abi = HUMMER_ABI,
    .make = &hummer::s3::make_store,
};
}
