// An object store in memory, which counts what is asked of it.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/object_store.hpp"

namespace hummer {

class MemoryObjectStore final : public ObjectStore {
 public:
  struct Object {
    std::string bytes;
    std::int64_t modified_ms = 0;
  };
  std::map<std::string, Object> objects;
  std::int64_t now_ms = 1'000;
  int writes = 0;
  int reads = 0;
  std::uint64_t bytes_read = 0;
  int uploads_under_way = 0;
  std::int64_t aborted_before_ms = 0;
  Status next_put;  // a failure of the next put, which comes to nothing

  Result<ObjectInformation> look_at(const std::string& path) override {
    const auto found = objects.find(path);
    if (found == objects.end()) return Status(ErrorCode::not_found, "no object '" + path + "'");
    return ObjectInformation{found->second.bytes.size(), found->second.modified_ms, "v"};
  }
  Result<std::size_t> read(const std::string& path, const std::string&, std::uint64_t offset,
                           std::span<char> into) override {
    const auto found = objects.find(path);
    if (found == objects.end()) return Status(ErrorCode::not_found, "no object '" + path + "'");
    const std::string& bytes = found->second.bytes;
    ++reads;
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t got = bytes.copy(into.data(), into.size(), offset);
    bytes_read += got;
    return got;
  }
  Status put(const std::string& path, std::string_view bytes, bool only_new) override {
    ++writes;
    if (!next_put.ok()) return std::exchange(next_put, {});
    if (only_new && objects.contains(path)) {
      return {ErrorCode::invalid_argument, "'" + path + "' exists already"};
    }
    objects[path] = {std::string(bytes), now_ms};
    return {};
  }
  Result<std::unique_ptr<ObjectUpload>> begin_upload(const std::string& path) override {
    return std::unique_ptr<ObjectUpload>(std::make_unique<Upload>(*this, path));
  }
  Result<std::vector<std::string>> list(const std::string& directory) override {
    std::set<std::string> names;
    const std::string prefix = directory + "/";
    for (auto each = objects.lower_bound(prefix);
         each != objects.end() && each->first.starts_with(prefix); ++each) {
      const std::string rest = each->first.substr(prefix.size());
      names.insert(rest.substr(0, rest.find('/')));
    }
    return std::vector<std::string>(names.begin(), names.end());
  }
  Status remove(std::span<const std::string> paths) override {
    for (const std::string& path : paths) objects.erase(path);
    return {};
  }
  Status abort_uploads(const std::string&, std::int64_t begun_before_ms) override {
    aborted_before_ms = begun_before_ms;
    return {};
  }

 private:
  class Upload final : public ObjectUpload {
   public:
    Upload(MemoryObjectStore& store, std::string path) : store_(store), path_(std::move(path)) {
      ++store_.uploads_under_way;
    }
    ~Upload() override { --store_.uploads_under_way; }
    Status add_part(std::string_view bytes) override {
      ++store_.writes;
      bytes_ += bytes;
      return {};
    }
    Status complete() override {
      store_.objects[path_] = {bytes_, store_.now_ms};
      return {};
    }

   private:
    MemoryObjectStore& store_;
    const std::string path_;
    std::string bytes_;
  };
};

}  // namespace hummer
