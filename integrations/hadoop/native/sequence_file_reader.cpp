#include "sequence_file_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "batch/big_endian.hpp"
#include "batch/vint.hpp"
#include "content_stream.hpp"

namespace hummer::hadoop {
namespace {

using batch::RecordView;

constexpr std::size_t first_buffer_bytes = std::size_t{256} << 10;
constexpr std::size_t span_records = 512;
constexpr std::size_t most_part_bytes = std::size_t{1} << 30;
constexpr std::size_t first_part_bytes = std::size_t{64} << 10;
constexpr std::uint64_t most_text_bytes = 1 << 20;  // of a class's name, or metadata
constexpr std::uint32_t most_metadata = 1 << 16;
constexpr std::uint32_t sync_escape = ~std::uint32_t{0};
constexpr std::uint32_t most_record_bytes = std::numeric_limits<std::int32_t>::max();
constexpr char version = 6;

}  // namespace

Status SequenceFileReader::corrupt(std::string_view what) const {
  return {ErrorCode::corrupt_file,
          fmt::format("'{}', at byte {}: {}", input_->path(), offset(), what)};
}

Result<bool> SequenceFileReader::have(std::uint64_t bytes) {
  while (filled_ - at_ < bytes) {
    if (is_at_end_of_file_) return false;
    std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
    buffer_offset_ += at_;
    filled_ -= std::exchange(at_, 0);
    // It grows as bytes come, whatever a length claims.
    if (filled_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
    const auto room = std::span(buffer_).subspan(filled_);
    const auto got = input_->read_at(buffer_offset_ + filled_, room);
    if (!got.ok()) return got.status();
    filled_ += *got;
    is_at_end_of_file_ = *got < room.size();
  }
  return true;
}

Status SequenceFileReader::need(std::uint64_t bytes) {
  const auto there = have(bytes);
  if (!there.ok()) return there.status();
  return *there ? Status() : corrupt("the file ends within a record");
}

void SequenceFileReader::jump_to(std::uint64_t offset) {
  buffer_offset_ = offset;
  at_ = filled_ = 0;
  is_at_end_of_file_ = false;
}

Result<std::uint32_t> SequenceFileReader::read_number() {
  HUMMER_TRY(need(sizeof(std::uint32_t)));
  const std::uint32_t number = batch::big_endian_32(buffer_.data() + at_);
  at_ += sizeof number;
  return number;
}

Result<std::uint64_t> SequenceFileReader::read_length() {
  HUMMER_TRY(need(1));
  HUMMER_TRY(need(batch::key_form::bytes_of_vint(buffer_[at_])));
  std::int64_t number = 0;
  const char* const end = batch::read_vint(buffer_.data() + at_, buffer_.data() + filled_, number);
  if (number < 0 || number > most_record_bytes) return corrupt("a length can't be");
  at_ = static_cast<std::size_t>(end - buffer_.data());
  return static_cast<std::uint64_t>(number);
}

Result<std::string> SequenceFileReader::read_text() {
  const auto bytes = read_length();
  if (!bytes.ok()) return bytes.status();
  if (*bytes > most_text_bytes) return corrupt("a text of the header is too long");
  HUMMER_TRY(need(*bytes));
  std::string text(buffer_.data() + at_, static_cast<std::size_t>(*bytes));
  at_ += text.size();
  return text;
}

Status SequenceFileReader::read_header() {
  constexpr std::size_t mark_bytes = 4;
  HUMMER_TRY(need(mark_bytes));
  if (std::string_view(buffer_.data(), 3) != "SEQ") return corrupt("this is no SequenceFile");
  if (buffer_[3] != version) {
    return {ErrorCode::invalid_argument,
            fmt::format("'{}' is a SequenceFile of version {}, which has no native reader",
                        input_->path(), static_cast<int>(buffer_[3]))};
  }
  at_ = mark_bytes;
  const auto key_class = read_text();
  if (!key_class.ok()) return key_class.status();
  const auto value_class = read_text();
  if (!value_class.ok()) return value_class.status();
  forms_ = {writable_form_of(*key_class), writable_form_of(*value_class)};
  HUMMER_TRY(need(2));
  const bool is_compressed = buffer_[at_++] != 0;
  const bool has_blocks = buffer_[at_++] != 0;
  if (is_compressed) {
    const auto codec_class = read_text();
    if (!codec_class.ok()) return codec_class.status();
    const auto codec = batch::codec_of(*codec_class);
    if (!codec.has_value()) {
      return {ErrorCode::invalid_argument,
              fmt::format("'{}' is compressed by {}, which has no native form", input_->path(),
                          *codec_class)};
    }
    decompressor_ = batch::make_decompressor(*codec);
    form_ = has_blocks ? Form::blocks : Form::compressed_values;
  }
  const auto metadata = read_number();
  if (!metadata.ok()) return metadata.status();
  if (*metadata > most_metadata) return corrupt("there are too many metadata");
  for (std::uint32_t i = 0; i < 2 * *metadata; ++i) {
    const auto text = read_text();
    if (!text.ok()) return text.status();
  }
  HUMMER_TRY(need(sync_bytes));
  std::memcpy(sync_.data(), buffer_.data() + at_, sync_bytes);
  at_ += sync_bytes;
  header_bytes_ = offset();
  return Status();
}

Status SequenceFileReader::open(std::unique_ptr<batch::SplitInput> input) {
  input_ = std::move(input);
  buffer_.resize(first_buffer_bytes);
  HUMMER_TRY(read_header());
  if (input_->begin() > header_bytes_) HUMMER_TRY(find_sync(input_->begin()));
  has_ended_ = offset() >= input_->end();
  return Status();
}

// To the escape in front of the first sync that begins there or later; else to the file's end.
Status SequenceFileReader::find_sync(std::uint64_t from) {
  jump_to(from + sizeof sync_escape);
  const std::string_view sync(sync_.data(), sync_bytes);
  for (;;) {
    const auto there = have(sync_bytes);
    if (!there.ok()) return there.status();
    const std::string_view bytes(buffer_.data() + at_, filled_ - at_);
    const std::size_t found = *there ? bytes.find(sync) : std::string_view::npos;
    if (found != std::string_view::npos) {
      jump_to(offset() + found - sizeof sync_escape);
      return Status();
    }
    if (is_at_end_of_file_) {
      at_ = filled_;
      has_ended_ = true;
      return Status();
    }
    at_ = filled_ - (sync_bytes - 1);
  }
}

Status SequenceFileReader::check_sync() {
  HUMMER_TRY(need(sync_bytes));
  if (std::memcmp(buffer_.data() + at_, sync_.data(), sync_bytes) != 0) {
    return corrupt("a sync is another one");
  }
  at_ += sync_bytes;
  return Status();
}

Status SequenceFileReader::decompress(std::string_view stored, std::string& into) {
  decompressor_->reset();
  const std::size_t begin = into.size();
  std::size_t filled = begin;
  for (;;) {
    if (filled == into.size()) {
      if (filled - begin > most_part_bytes) {
        return {ErrorCode::limit_exceeded,
                fmt::format("'{}', at byte {}: it decompresses to more than {} bytes",
                            input_->path(), offset(), most_part_bytes)};
      }
      into.resize(filled + std::max(first_part_bytes, filled - begin));
    }
    const std::span<char> room(into.data() + filled, into.size() - filled);
    const auto got = decompressor_->read(stored, room);
    if (!got.ok()) return corrupt(got.status().message());
    filled += *got;
    if (*got < room.size()) break;
  }
  into.resize(filled);
  return decompressor_->at_end() ? Status() : corrupt("the compressed bytes end too early");
}

// False: there is none that is the split's.
Result<bool> SequenceFileReader::read_record() {
  const std::uint64_t begin = offset();
  const auto there = have(sizeof sync_escape);
  if (!there.ok()) return there.status();
  if (!*there) {
    if (filled_ > at_) return corrupt("the file ends within a record");
    return false;
  }
  auto record_bytes = read_number();
  if (record_bytes.ok() && *record_bytes == sync_escape) {
    HUMMER_TRY(check_sync());
    if (begin >= input_->end()) return false;
    const auto more = have(1);
    if (!more.ok() || !*more) return more;
    record_bytes = read_number();
  }
  if (!record_bytes.ok()) return record_bytes.status();
  const auto key_bytes = read_number();
  if (!key_bytes.ok()) return key_bytes.status();
  if (*record_bytes > most_record_bytes || *key_bytes > *record_bytes) {
    return corrupt("a record's lengths can't be");
  }
  HUMMER_TRY(need(*record_bytes));
  const char* const key = buffer_.data() + at_;
  const std::size_t value_bytes = *record_bytes - *key_bytes;
  at_ += *record_bytes;
  if (form_ == Form::plain) {
    views_.push_back(content_view(forms_, {key, *key_bytes}, {key + *key_bytes, value_bytes}));
    return true;
  }
  // Where the value is says read_records(), when all of the span are there.
  const std::size_t values_before = values_.size();
  HUMMER_TRY(decompress({key + *key_bytes, value_bytes}, values_));
  views_.push_back(
      {key, nullptr, *key_bytes, static_cast<std::uint32_t>(values_.size() - values_before)});
  return true;
}

// As many as are in the buffer, since to fill it moves what is there; one at least.
Status SequenceFileReader::read_records() {
  while (views_.size() < span_records && !has_ended_) {
    if (!views_.empty()) {
      const std::size_t left = filled_ - at_;
      constexpr std::size_t head = 3 * sizeof(std::uint32_t) + sync_bytes;
      if (left < head) break;
      const char* from = buffer_.data() + at_;
      std::uint64_t bytes = batch::big_endian_32(from) + std::uint64_t{8};
      if (batch::big_endian_32(from) == sync_escape) {
        bytes = batch::big_endian_32(from + sizeof sync_escape + sync_bytes) + head;
      }
      if (left < bytes) break;
      if (values_.size() > first_buffer_bytes) break;
    }
    const auto more = read_record();
    if (!more.ok()) return more.status();
    has_ended_ = !*more;
  }
  if (form_ == Form::plain) return Status();
  const char* value = values_.data();
  for (RecordView& view : views_) {
    const std::size_t value_bytes = view.value_bytes;
    view = content_view(forms_, view.key(), {value, value_bytes});
    value += value_bytes;
  }
  return Status();
}

Status SequenceFileReader::read_part(std::string& into) {
  const auto stored_bytes = read_length();
  if (!stored_bytes.ok()) return stored_bytes.status();
  HUMMER_TRY(need(*stored_bytes));
  into.clear();
  HUMMER_TRY(decompress({buffer_.data() + at_, static_cast<std::size_t>(*stored_bytes)}, into));
  at_ += static_cast<std::size_t>(*stored_bytes);
  return Status();
}

Status SequenceFileReader::read_block() {
  if (offset() >= input_->end()) {
    has_ended_ = true;
    return Status();
  }
  const auto there = have(1);
  if (!there.ok()) return there.status();
  if (!*there) {
    has_ended_ = true;
    return Status();
  }
  const auto escape = read_number();
  if (!escape.ok()) return escape.status();
  if (*escape != sync_escape) return corrupt("a block lacks its sync");
  HUMMER_TRY(check_sync());
  const auto records = read_length();
  if (!records.ok()) return records.status();
  for (std::string* part : {&key_lengths_, &keys_, &value_lengths_, &values_}) {
    HUMMER_TRY(read_part(*part));
  }
  return cut_block(*records);
}

Status SequenceFileReader::cut_block(std::uint64_t records) {
  struct Part {
    const char* lengths;
    const char* lengths_end;
    const char* at;
    const char* end;
    // Null data: there is none.
    std::string_view take() {
      std::int64_t bytes = 0;
      const char* const next = batch::read_vint(lengths, lengths_end, bytes);
      if (next == nullptr || bytes < 0 || bytes > end - at) return {};
      lengths = next;
      at += bytes;
      return {at - bytes, static_cast<std::size_t>(bytes)};
    }
  };
  const auto part_of = [](const std::string& lengths, const std::string& bytes) {
    return Part{lengths.data(), lengths.data() + lengths.size(), bytes.data(),
                bytes.data() + bytes.size()};
  };
  // A record has a byte of each length at least.
  if (records > key_lengths_.size() || records > value_lengths_.size()) {
    return corrupt("a block has fewer records than it says");
  }
  Part keys = part_of(key_lengths_, keys_);
  Part values = part_of(value_lengths_, values_);
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::string_view key = keys.take();
    const std::string_view value = values.take();
    if (key.data() == nullptr || value.data() == nullptr) {
      return corrupt("a length within a block can't be");
    }
    views_.push_back(content_view(forms_, key, value));
  }
  return Status();
}

Result<std::span<const RecordView>> SequenceFileReader::next() {
  views_.clear();
  if (form_ != Form::blocks) values_.clear();
  span_offset_ = offset();
  // A block may have no records.
  while (views_.empty() && !has_ended_) {
    HUMMER_TRY(form_ == Form::blocks ? read_block() : read_records());
  }
  return std::span<const RecordView>(views_);
}

std::string SequenceFileReader::place_of(const RecordView& record) const {
  return fmt::format("'{}', record {} behind byte {}", input_->path(), &record - views_.data(),
                     span_offset_);
}

}  // namespace hummer::hadoop
