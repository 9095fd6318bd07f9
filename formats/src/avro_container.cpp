#include "avro_container.hpp"

#include <algorithm>

#include <hummer/detail/key_hash.hpp>

#include "avro_codec.hpp"
#include "varint.hpp"

namespace hummer::formats {
namespace {

// No number or length of a block is more; so none overflows.
constexpr std::uint64_t most_of_avro = std::uint64_t{1} << 40;

Status no_avro(const char* why) {
  return {ErrorCode::corrupt_file, std::string("this is no Avro container file: ") + why};
}

// Takes from a text that may end too early.
class AvroTaker {
 public:
  explicit AvroTaker(std::string_view text) : text_(text) {}

  bool ended() const { return ended_; }
  bool wrong() const { return wrong_; }
  std::size_t at() const { return at_; }

  std::int64_t number() {
    if (ended_ || wrong_) return 0;
    std::uint64_t value = 0;
    const char* const begin = text_.data() + at_;
    const char* const end = read_varint(begin, text_.data() + text_.size(), value);
    if (end == nullptr) {
      (text_.size() - at_ < longest_varint_bytes ? ended_ : wrong_) = true;
      return 0;
    }
    at_ += static_cast<std::size_t>(end - begin);
    return unfolded(value);
  }
  std::uint64_t size() {
    const std::int64_t value = number();
    if (value < 0 || static_cast<std::uint64_t>(value) > most_of_avro) wrong_ = true;
    return wrong_ ? 0 : static_cast<std::uint64_t>(value);
  }
  std::string_view bytes(std::uint64_t size) {
    if (ended_ || wrong_ || size > text_.size() - at_) {
      ended_ = true;
      return {};
    }
    const std::string_view taken = text_.substr(at_, size);
    at_ += size;
    return taken;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool ended_ = false;
  bool wrong_ = false;
};

class AvroFraming final : public RecordFraming {
 public:
  std::string_view name() const override { return "avro"; }
  std::size_t mark_bytes() const override { return avro_mark_bytes; }
  Result<std::size_t> head_bytes(std::string_view text) const override {
    const Result<AvroHead> head = read_avro_head(text);
    if (!head.ok()) return head.status();
    return head->size;
  }
  Result<std::size_t> unit_bytes(std::string_view text) const override {
    const Result<AvroBlock> block = read_avro_block(text);
    if (!block.ok()) return block.status();
    return block->size;
  }
};

}  // namespace

Result<AvroHead> read_avro_head(std::string_view text) {
  const std::size_t compared = std::min(text.size(), avro_magic.size());
  if (text.substr(0, compared) != avro_magic.substr(0, compared)) {
    return no_avro("it does not begin with \"Obj\" and a byte 1");
  }
  AvroHead head;
  if (compared < avro_magic.size()) return head;
  AvroTaker taker(text);
  taker.bytes(avro_magic.size());
  while (true) {
    const std::int64_t said = taker.number();
    auto count = static_cast<std::uint64_t>(said);
    if (said < 0) {
      // The size of the entries follows, which are read anyway.
      count = 0 - count;
      taker.size();
    }
    if (count == 0 || taker.ended() || taker.wrong()) break;
    for (; count > 0 && !taker.ended() && !taker.wrong(); --count) {
      const std::string_view key = taker.bytes(taker.size());
      const std::string_view value = taker.bytes(taker.size());
      if (key == "avro.schema") head.schema = value;
      if (key == "avro.codec") head.codec = value;
    }
  }
  head.mark = taker.bytes(avro_mark_bytes);
  if (taker.wrong()) return no_avro("its head has a number that can't be");
  if (taker.ended()) return AvroHead{};
  if (head.schema.empty()) return no_avro("its head has no schema");
  head.size = taker.at();
  return head;
}

Result<AvroBlock> read_avro_block(std::string_view text) {
  AvroTaker taker(text);
  AvroBlock block;
  block.records = taker.size();
  const std::uint64_t bytes = taker.size();
  if (taker.wrong()) {
    return Status(ErrorCode::corrupt_file, "no block of an Avro container file begins here");
  }
  if (taker.ended()) return block;
  block.size = taker.at() + bytes + avro_mark_bytes;
  block.data = text.substr(taker.at(), bytes);
  return block;
}

const RecordFraming& avro_framing() {
  static const AvroFraming framing;
  return framing;
}

std::string make_avro_head(std::string_view schema, AvroOptions::Codec codec) {
  const auto append_text = [](std::string_view text, std::string& to) {
    append_varint(folded(static_cast<std::int64_t>(text.size())), to);
    to.append(text);
  };
  std::string head(avro_magic);
  append_varint(folded(2), head);
  append_text("avro.schema", head);
  append_text(schema, head);
  append_text("avro.codec", head);
  append_text(avro_codec_name(codec), head);
  append_varint(0, head);
  const std::uint64_t first = hash_bytes(head.data(), head.size());
  append_bytes(first, head);
  append_bytes(hash_bytes(head.data(), head.size()), head);
  return head;
}

}  // namespace hummer::formats
