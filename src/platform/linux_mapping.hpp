// LinuxMapping: a file mapping with a readable tail and a truncation flag. (Linux form only.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/descriptor.hpp"
#include "platform/files.hpp"

namespace hummer {

class LinuxMapping final : public Mapping {
 public:
  static Result<std::unique_ptr<Mapping>> make(std::shared_ptr<const Descriptor> file,
                                               const std::string& path, std::uint64_t offset,
                                               std::size_t length, bool guarded);
  ~LinuxMapping() override;

  const char* data() const override { return data_; }
  std::size_t size() const override { return size_; }
  bool truncated() const override;
  void prefault(std::size_t offset, std::size_t length) override;
  void release_before(std::size_t end) override;

 private:
  LinuxMapping() = default;

  std::shared_ptr<const Descriptor> file_;
  char* base_ = nullptr;  // page-aligned; file pages, then perhaps one anonymous page
  std::size_t file_bytes_ = 0;
  std::size_t total_bytes_ = 0;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t end_offset_ = 0;  // in the file
  int guard_slot_ = -1;
};

}  // namespace hummer
