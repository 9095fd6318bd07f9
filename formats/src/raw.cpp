#include <hummer/formats/raw.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "raw_layout.hpp"
#include "record_run.hpp"

namespace hummer::formats {
namespace {

class RawDecoder final : public Decoder {
 public:
  RawDecoder(const RecordShape& shape, const RawOptions& options)
      : shape_(shape), framing_(options.framing), layout_(shape, options) {}

  Status begin(const TextBlock&, std::size_t&) override {
    framed_ = true;
    return {};
  }

  Outcome decode(std::string_view text, std::size_t& at, Batch& batch, std::size_t limit) override {
    RecordRun run(shape_, batch, limit);
    while (at < text.size() || (!framed_ && text.empty())) {
      if (run.full()) return Outcome::full;
      const RawLength length = length_at(text, at);
      if (length.broken || length.payload_bytes > text.size() - at - length.prefix_bytes) {
        why_ = "the record ends behind its input";
        return Outcome::bad_record;
      }
      const std::size_t begin = at + length.prefix_bytes;
      const char* const wrong = layout_.read(text.substr(begin, length.payload_bytes), run.next());
      if (wrong != nullptr) {
        why_ = wrong;
        return Outcome::bad_record;
      }
      run.keep();
      at = begin + length.payload_bytes;
      if (text.empty()) break;
    }
    return Outcome::done;
  }

  std::size_t end_of_record(std::string_view text, std::size_t at) const override {
    const RawLength length = length_at(text, at);
    if (length.broken || length.payload_bytes > text.size() - at - length.prefix_bytes) {
      return text.size();
    }
    return at + length.prefix_bytes + length.payload_bytes;
  }
  std::string_view skip_record(std::string_view text, std::size_t& at) override {
    const std::size_t begin = at + std::min(length_at(text, at).prefix_bytes, text.size() - at);
    at = end_of_record(text, at);
    return text.substr(begin, at - begin);
  }
  bool has_lines() const override { return false; }

 private:
  // A message is a record by itself.
  RawLength length_at(std::string_view text, std::size_t at) const {
    if (!framed_) return {.prefix_bytes = 0, .payload_bytes = text.size() - at};
    RawLength length = read_length(framing_, layout_.record_bytes(), text.substr(at));
    if (length.payload_bytes == RawLength::unknown) length.broken = true;
    return length;
  }

  const RecordShape& shape_;
  const RawFraming framing_;
  const RawLayout layout_;
  bool framed_ = false;
};

class RawEncoder final : public Encoder {
 public:
  RawEncoder(const RecordShape& shape, const RawOptions& options)
      : framing_(options.framing), layout_(shape, options) {}

  void encode(const void* record, std::string& text) override {
    bytes_.clear();
    encode_message(record, bytes_);
    if (bytes_.size() > UINT32_MAX) {
      throw std::invalid_argument("raw: a record of " + std::to_string(bytes_.size()) +
                                  " bytes: at most 4 GiB have a length of 32 bits");
    }
    append_length(framing_, bytes_.size(), text);
    text.append(bytes_);
  }
  void encode_message(const void* record, std::string& text) override {
    const std::size_t before = text.size();
    layout_.append(record, text);
    const std::size_t written = text.size() - before;
    if (framing_ == RawFraming::fixed && written != layout_.record_bytes()) {
      throw std::invalid_argument("raw: a record of " + std::to_string(written) +
                                  " bytes, and each has " + std::to_string(layout_.record_bytes()));
    }
  }

 private:
  const RawFraming framing_;
  const RawLayout layout_;
  std::string bytes_;
};

class Raw final : public Format {
 public:
  explicit Raw(const RawOptions& options) : options_(options) {}

  std::string_view name() const override { return "raw"; }
  Status check(const RecordShape& shape) const override {
    return RawLayout::check(shape, options_);
  }
  bool has_head() const override { return false; }
  std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const override {
    return std::make_unique<RawDecoder>(shape, options_);
  }
  std::unique_ptr<Encoder> make_encoder(const RecordShape& shape) const override {
    return std::make_unique<RawEncoder>(shape, options_);
  }
  std::string head(const RecordShape&) const override { return {}; }
  CapturedValues captured() const override {
    return encoded_values(static_cast<std::uint8_t>(options_.framing),
                          static_cast<std::uint64_t>(options_.record_bytes),
                          options_.byte_order == std::endian::little);
  }

 private:
  const RawOptions options_;
};

}  // namespace

std::shared_ptr<const Format> raw(RawOptions options) { return std::make_shared<Raw>(options); }

FileSourceOptions raw_file(const RecordShape& shape, const RawOptions& options,
                           FileSourceOptions file) {
  // What check() refuses has no size; it is refused before a file is opened.
  const bool fixed = options.framing == RawFraming::fixed;
  const std::size_t size =
      fixed && RawLayout::check(shape, options).ok() ? RawLayout(shape, options).record_bytes() : 1;
  file.framing = raw_framing(options.framing, fixed ? size : 0);
  return file;
}

}  // namespace hummer::formats
