#include "fetched_output.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "batch/crc32.hpp"
#include "batch/spill_file.hpp"

namespace hummer::hadoop {

class FetchedOutput::Memory final : public ReadableFile {
 public:
  explicit Memory(std::size_t size_bytes)
      : bytes_(std::make_unique_for_overwrite<char[]>(size_bytes)), size_bytes_(size_bytes) {}

  char* bytes() { return bytes_.get(); }

  const std::string& path() const override {
    static const std::string name = "a map output in memory";
    return name;
  }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (offset >= size_bytes_) return std::size_t{0};
    const std::size_t count = std::min(into.size(), size_bytes_ - static_cast<std::size_t>(offset));
    std::memcpy(into.data(), bytes_.get() + offset, count);
    return count;
  }
  Result<std::unique_ptr<Mapping>> map(std::uint64_t, std::size_t) override {
    return Status(ErrorCode::limit_exceeded, path() + " is not mapped");
  }
  void advise_sequential() override {}

 private:
  const std::unique_ptr<char[]> bytes_;
  const std::size_t size_bytes_;
};

FetchedOutput::FetchedOutput(batch::SegmentPlace place, std::unique_ptr<Memory> memory,
                             NamelessFile file)
    : place_(place), memory_(std::move(memory)), file_(std::move(file)) {}

FetchedOutput::~FetchedOutput() = default;

Result<std::unique_ptr<FetchedOutput>> FetchedOutput::in_memory(batch::SegmentPlace place) {
  auto memory = std::make_unique<Memory>(static_cast<std::size_t>(place.stored_bytes));
  return std::unique_ptr<FetchedOutput>(new FetchedOutput(place, std::move(memory), {}));
}

Result<std::unique_ptr<FetchedOutput>> FetchedOutput::in_file(Platform& platform,
                                                              const std::string& directory,
                                                              batch::SegmentPlace place) {
  auto file = open_nameless(platform, directory);
  if (!file.ok()) return file.status();
  return std::unique_ptr<FetchedOutput>(new FetchedOutput(place, nullptr, std::move(*file)));
}

Status FetchedOutput::receive(std::string_view bytes) {
  if (bytes.size() > place_.stored_bytes - received_) {
    return {ErrorCode::corrupt_file, "a map output has more bytes than were announced"};
  }
  const std::uint64_t content_bytes =
      place_.stored_bytes - std::min<std::uint64_t>(batch::segment_crc_bytes, place_.stored_bytes);
  const auto of_content = static_cast<std::size_t>(
      std::min<std::uint64_t>(bytes.size(), content_bytes - std::min(content_bytes, received_)));
  crc_ = batch::crc32_after(crc_, bytes.substr(0, of_content));
  for (const char byte : bytes.substr(of_content)) {
    crc_in_segment_ = crc_in_segment_ << 8 | static_cast<unsigned char>(byte);
  }
  if (memory_ != nullptr) {
    std::memcpy(memory_->bytes() + received_, bytes.data(), bytes.size());
  } else {
    HUMMER_TRY(file_.writable->append(bytes));
  }
  received_ += bytes.size();
  return Status();
}

Status FetchedOutput::complete() {
  if (received_ != place_.stored_bytes || received_ < batch::segment_crc_bytes) {
    return {ErrorCode::corrupt_file,
            fmt::format("a map output of {} bytes ended after {}", place_.stored_bytes, received_)};
  }
  if (crc_ != crc_in_segment_) {
    return {ErrorCode::corrupt_file,
            fmt::format("the CRC of a map output of {} bytes is another one", received_)};
  }
  if (memory_ != nullptr) return Status();
  HUMMER_TRY(file_.writable->close());
  written_ = batch::written_file(std::move(file_.readable), received_);
  return Status();
}

std::unique_ptr<batch::RecordStream> FetchedOutput::open(batch::Codec codec,
                                                         std::size_t buffer_bytes) const {
  ReadableFile& file = memory_ != nullptr ? static_cast<ReadableFile&>(*memory_) : *written_;
  const std::uint64_t most = std::max(place_.raw_bytes, place_.stored_bytes);
  return std::make_unique<batch::SegmentReader>(
      file, place_, codec, static_cast<std::size_t>(std::min<std::uint64_t>(most, buffer_bytes)));
}

}  // namespace hummer::hadoop
