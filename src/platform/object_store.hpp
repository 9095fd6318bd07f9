// ObjectStore: what the engine asks of a store of objects, such as S3, under paths with a scheme
// ("s3://bucket/folder/name").
//
// An object store is no disk. It has no directories (a path's part up to a '/' is only a prefix of
// names), nothing is renamed or appended to, and an object appears whole or not at all; what put()
// and complete() have answered is durable. Who must know asks Files::object_store(path); to others
// ObjectFiles (object_files.hpp) is Files.
//
// The engine has none inside: one comes from a library, libhummer_<scheme>.so, that is loaded when
// the first path with its scheme is met (plugins.hpp). Such a library has the symbol
// `hummer_object_store`, an ObjectStorePlugin. It is compiled with this header and the public ones,
// and nothing else of the engine.
//
// Errors: those of files.hpp; put with only_new is invalid_argument when there is an object. What
// may pass by the store tries again by itself, for a bounded time. Thread: any, all calls at once;
// they block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

struct ObjectInformation {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;  // since 1970
  std::string version;           // differs when the object is written again; an ETag
};

// An object that is too large for one request. Destroyed before complete() it leaves nothing.
class ObjectUpload {
 public:
  virtual ~ObjectUpload() = default;
  // REQUIRES: of 5 MiB or more, but for the last one.
  virtual Status add_part(std::string_view bytes) = 0;
  virtual Status complete() = 0;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  virtual Result<ObjectInformation> look_at(const std::string& path) = 0;
  // Fills `into` as far as the object goes: less than asked only at its end, 0 at or behind it.
  // `version` (empty: whichever): file_changed when it is another one.
  virtual Result<std::size_t> read(const std::string& path, const std::string& version,
                                   std::uint64_t offset, std::span<char> into) = 0;
  virtual Status put(const std::string& path, std::string_view bytes, bool only_new) = 0;
  virtual Result<std::unique_ptr<ObjectUpload>> begin_upload(const std::string& path) = 0;
  // What is in `directory`, by the parts of names up to the next '/', sorted by bytes.
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;
  // No failure for one that is not there.
  virtual Status remove(std::span<const std::string> paths) = 0;
  // Of uploads below `directory` that began before then and were not completed.
  virtual Status abort_uploads(const std::string& directory, std::int64_t begun_before_ms) = 0;
};

struct ObjectStorePlugin {
  static constexpr const char* symbol = "hummer_object_store";
  static constexpr std::uint32_t newest_version = 1;  // of this header
  std::uint32_t version = newest_version;
  const char* abi = nullptr;  // HUMMER_ABI, of the public headers
  Result<std::unique_ptr<ObjectStore>> (*make)() = nullptr;
};

}  // namespace hummer
