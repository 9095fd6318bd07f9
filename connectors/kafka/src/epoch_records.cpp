#include "epoch_records.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <hummer/bytes.hpp>

namespace hummer::kafka {
namespace {

constexpr std::size_t chunk_bytes = 256 << 10;

enum Part : std::uint8_t {
  has_key = 1,
  has_value = 2,
  has_topic = 4,
  has_partition = 8,
  has_time = 16,
  has_headers = 32,
  every_part = 63,
};

void put(std::string& bytes, const void* from, std::size_t length) {
  bytes.append(static_cast<const char*>(from), length);
}
template <typename T>
void put_value(std::string& bytes, const T& value) {
  put(bytes, &value, sizeof value);
}
void put_text(std::string& bytes, std::string_view text) {
  put_value(bytes, static_cast<std::uint32_t>(text.size()));
  bytes.append(text);
}

bool get_text(ByteReader& in, std::optional<std::string_view>& text) {
  std::string_view found;
  if (!in.get_text(found)) return false;
  text = found;
  return true;
}

bool get_headers(ByteReader& in, std::vector<Header>& headers) {
  std::uint32_t count = 0;
  if (!in.get_value(count)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    Header header;
    std::uint8_t valued = 0;
    if (!in.get_text(header.name) || !in.get_value(valued) || valued > 1) return false;
    if (valued != 0 && !get_text(in, header.value)) return false;
    headers.push_back(header);
  }
  return true;
}

Status disk_failure(const std::string& what, const std::string& directory) {
  const ErrorCode code = errno == ENOSPC ? ErrorCode::disk_full : ErrorCode::io_error;
  return {code, what + " in the spill directory '" + directory + "': " + std::strerror(errno)};
}

}  // namespace

void encode(const Outgoing& record, std::string& bytes) {
  const std::size_t begin = bytes.size();
  put_value(bytes, std::uint32_t{0});  // its length, known at the end
  const auto parts = static_cast<std::uint8_t>(
      (record.key ? has_key : 0) | (record.value ? has_value : 0) |
      (!record.topic.empty() ? has_topic : 0) | (record.partition >= 0 ? has_partition : 0) |
      (record.time_ms != no_timestamp ? has_time : 0) |
      (!record.headers.empty() ? has_headers : 0));
  put_value(bytes, parts);
  if (record.key) put_text(bytes, *record.key);
  if (record.value) put_text(bytes, *record.value);
  if (parts & has_topic) put_text(bytes, record.topic);
  if (parts & has_partition) put_value(bytes, record.partition);
  if (parts & has_time) put_value(bytes, record.time_ms);
  if (parts & has_headers) {
    put_value(bytes, static_cast<std::uint32_t>(record.headers.size()));
    for (const Header& header : record.headers) {
      put_text(bytes, header.name);
      put_value(bytes, static_cast<std::uint8_t>(header.value.has_value()));
      if (header.value) put_text(bytes, *header.value);
    }
  }
  const auto length = static_cast<std::uint32_t>(bytes.size() - begin - sizeof(std::uint32_t));
  std::memcpy(bytes.data() + begin, &length, sizeof length);
}

bool decode(std::string_view& bytes, Outgoing& record) {
  ByteReader lengths(bytes);
  std::string_view whole;
  if (!lengths.get_text(whole)) return false;
  ByteReader in(whole);
  record.topic = {};
  record.partition = -1;
  record.time_ms = no_timestamp;
  record.key.reset();
  record.value.reset();
  record.headers.clear();
  std::uint8_t parts = 0;
  if (!in.get_value(parts) || parts > every_part) return false;
  if ((parts & has_key) && !get_text(in, record.key)) return false;
  if ((parts & has_value) && !get_text(in, record.value)) return false;
  if ((parts & has_topic) && !in.get_text(record.topic)) return false;
  if ((parts & has_partition) && (!in.get_value(record.partition) || record.partition < 0)) {
    return false;
  }
  if ((parts & has_time) && !in.get_value(record.time_ms)) return false;
  if ((parts & has_headers) && !get_headers(in, record.headers)) return false;
  bytes.remove_prefix(sizeof(std::uint32_t) + whole.size());
  return true;
}

// Written behind its end by one thread, read before it by any.
class SpillFile {
 public:
  explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}
  ~SpillFile() {
    if (file_ >= 0) ::close(file_);
  }
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  Status open();
  Result<std::uint64_t> append(std::string_view bytes);
  Status read(std::uint64_t offset, std::string& space) const;

 private:
  const std::string directory_;
  int file_ = -1;
  std::uint64_t size_bytes_ = 0;
};

Status SpillFile::open() {
  std::error_code ignored;  // the open below says what is wrong
  std::filesystem::create_directories(directory_, ignored);
  file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  return file_ < 0 ? disk_failure("a file for records", directory_) : Status();
}

Result<std::uint64_t> SpillFile::append(std::string_view bytes) {
  const std::uint64_t begin = size_bytes_;
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size_bytes_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return disk_failure("records", directory_);
    size_bytes_ += static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return begin;
}

Status SpillFile::read(std::uint64_t offset, std::string& space) const {
  for (std::size_t read = 0; read < space.size();) {
    const ssize_t count =
        ::pread(file_, space.data() + read, space.size() - read, static_cast<off_t>(offset + read));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return disk_failure("records, read again,", directory_);
    read += static_cast<std::size_t>(count);
  }
  return {};
}

Result<std::string_view> EpochChunk::bytes(std::string& space) const {
  if (held_) return std::string_view(*held_);
  space.resize(size_bytes_);
  HUMMER_TRY(file_->read(offset_, space));
  return std::string_view(space);
}

Status EpochRecords::add(const Outgoing& record) {
  if (is_at_chunk()) {
    chunks_.emplace_back().held_ = std::make_shared<std::string>();
    chunks_.back().held_->reserve(chunk_bytes + (chunk_bytes >> 4));
  }
  std::string& bytes = *chunks_.back().held_;
  const std::size_t before = bytes.size();
  encode(record, bytes);
  size_bytes_ += bytes.size() - before;
  return bytes.size() >= chunk_bytes ? complete() : Status();
}

Status EpochRecords::add_chunk(std::string_view bytes) {
  chunks_.emplace_back().held_ = std::make_shared<std::string>(bytes);
  size_bytes_ += bytes.size();
  return complete();
}

Status EpochRecords::complete() {
  EpochChunk& chunk = chunks_.back();
  ++complete_;
  held_ += chunk.held_->size();
  if (held_ <= held_bytes_) return {};
  if (!file_) {
    auto file = std::make_shared<SpillFile>(spill_directory_);
    HUMMER_TRY(file->open());
    file_ = std::move(file);
  }
  const Result<std::uint64_t> offset = file_->append(*chunk.held_);
  if (!offset.ok()) return offset.status();
  chunk.file_ = file_;
  chunk.offset_ = *offset;
  chunk.size_bytes_ = chunk.held_->size();
  held_ -= chunk.size_bytes_;
  chunk.held_.reset();
  return {};
}

}  // namespace hummer::kafka
