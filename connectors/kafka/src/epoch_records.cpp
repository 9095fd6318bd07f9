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

EpochRecords::~EpochRecords() {
  if (file_ >= 0) ::close(file_);
}

Status EpochRecords::add(const Outgoing& record) {
  if (chunks_.empty() || chunks_.back().bytes.size() >= chunk_bytes) {
    if (held_ > held_bytes_) HUMMER_TRY(spill());
    chunks_.emplace_back();
    chunks_.back().bytes.reserve(chunk_bytes + (chunk_bytes >> 4));
  }
  std::string& bytes = chunks_.back().bytes;
  const std::size_t before = bytes.size();
  encode(record, bytes);
  held_ += bytes.size() - before;
  return {};
}

Status EpochRecords::add_chunk(std::string_view bytes) {
  if (held_ > held_bytes_) HUMMER_TRY(spill());
  chunks_.push_back({.bytes = std::string(bytes)});
  held_ += bytes.size();
  return {};
}

Status EpochRecords::spill() {
  if (file_ < 0) {
    std::error_code ignored;  // the open below says what is wrong
    std::filesystem::create_directories(spill_directory_, ignored);
    file_ = ::open(spill_directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) return disk_failure("a file for records", spill_directory_);
  }
  for (; first_held_ < chunks_.size(); ++first_held_) {
    Chunk& chunk = chunks_[first_held_];
    for (std::size_t written = 0; written < chunk.bytes.size();) {
      const ssize_t count =
          ::pwrite(file_, chunk.bytes.data() + written, chunk.bytes.size() - written,
                   static_cast<off_t>(file_bytes_ + written));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return disk_failure("records", spill_directory_);
      written += static_cast<std::size_t>(count);
    }
    chunk.offset = file_bytes_;
    chunk.size_bytes = static_cast<std::uint32_t>(chunk.bytes.size());
    file_bytes_ += chunk.bytes.size();
    held_ -= chunk.bytes.size();
    std::string().swap(chunk.bytes);
  }
  return {};
}

Result<std::string_view> EpochRecords::chunk(std::size_t index, std::string& space) const {
  const Chunk& chunk = chunks_[index];
  if (index >= first_held_) return std::string_view(chunk.bytes);
  space.resize(chunk.size_bytes);
  for (std::size_t read = 0; read < space.size();) {
    const ssize_t count = ::pread(file_, space.data() + read, space.size() - read,
                                  static_cast<off_t>(chunk.offset + read));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return disk_failure("records, read again,", spill_directory_);
    read += static_cast<std::size_t>(count);
  }
  return std::string_view(space);
}

}  // namespace hummer::kafka
