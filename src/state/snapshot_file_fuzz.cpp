// Any bytes as a snapshot file: no crash, no allocation beyond what is there, and what is accepted
// is what a writer would write.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "state/snapshot_file.hpp"

namespace {

using namespace hummer;

class MemoryFile final : public ReadableFile {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)) {}
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

 private:
  std::string path_ = "fuzz";
  std::string bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  auto reader = SnapshotFileReader::open(std::make_unique<MemoryFile>(bytes));
  if (!reader.ok()) return 0;
  std::string uid;
  std::string piece;
  std::size_t total = 0;
  for (;;) {
    const Result<bool> more = reader->next(uid, piece, 16 << 20);
    if (!more.ok()) return 0;
    if (!*more) break;
    total += piece.size();
    if (total > size || uid.size() > max_snapshot_uid_bytes) std::abort();
  }
  if (reader->summary().bytes != size) std::abort();
  return 0;
}
