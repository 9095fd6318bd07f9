// MemoryFile: a file whose bytes lie in memory and that is nowhere on a disk, for fuzz targets; its
// path is "fuzz". It is read as a ReadableFile and appended to as a WritableFile; there are no
// mappings of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "platform/files.hpp"

namespace hummer {

class MemoryFile final : public ReadableFile, public WritableFile {
 public:
  explicit MemoryFile(std::string bytes = {}) : bytes_(std::move(bytes)) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (offset >= bytes_.size()) return std::size_t{0};
    return bytes_.copy(into.data(), into.size(), offset);
  }
  Result<std::unique_ptr<Mapping>> map(std::uint64_t, std::size_t) override {
    return Status(ErrorCode::io_error, "no mapping");
  }
  void advise_sequential() override {}
  Status append(std::string_view bytes) override {
    bytes_.append(bytes);
    return {};
  }
  Status sync() override { return {}; }
  Status close() override { return {}; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string path_ = "fuzz";
  std::string bytes_;
};

}  // namespace hummer
