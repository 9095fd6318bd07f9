// The operators behind decode and encode (hummer/formats/streams.hpp). Below them records have no
// type: the decoder makes them by their shape.
#include <stdexcept>
#include <string>
#include <utility>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/text_position.hpp>
#include <hummer/formats/streams.hpp>

namespace hummer::formats {
namespace {

// What a failure policy is about: what an operator throws at a record.
struct BadRecord : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Blocks of text to records. State between elements: none but the head of the file at hand, which
// the source repeats after a restore.
class DecodeOperator final : public Operator {
 public:
  DecodeOperator(const TypeDescriptor& type, std::unique_ptr<Decoder> decoder)
      : type_(type), decoder_(std::move(decoder)) {}

  void declare(Output& out) const override { out.add_port(type_); }
  bool keeps_splits() const override { return true; }
  bool can_skip_record() const override { return true; }

  OperatorResult process(Batch& in, Output& out) override {
    Batch& target = out.batch();
    const auto blocks = in.values<TextBlock>();
    std::size_t block = in.position();
    began_block_ = block;
    began_offset_ = offset_;
    for (; block < blocks.size(); ++block, offset_ = 0) {
      in.advance_to(block);
      const TextBlock& text = blocks[block];
      if (offset_ == 0) {
        if (Status status = decoder_->begin(text, offset_); !status.ok()) {
          return context().fail(std::move(status));
        }
      }
      const std::size_t before = target.size();
      const Decoder::Outcome outcome =
          decoder_->decode(text.view(), offset_, target, out.soft_limit());
      stamp(target, before, target.size(),
            in.has_timestamps() ? in.timestamps()[block] : no_timestamp);
      if (outcome == Decoder::Outcome::bad_record) throw BadRecord(decoder_->why());
      if (outcome == Decoder::Outcome::failed || outcome == Decoder::Outcome::unavailable) {
        return context().fail(
            {ErrorCode::corrupt_record, describe_position(in) + ": " + decoder_->why()});
      }
      if (outcome == Decoder::Outcome::full) return OperatorResult::more;
    }
    in.advance_to(block);
    return OperatorResult::done;
  }

  std::string describe_position(const Batch& in) const override {
    return in.finished() ? std::string() : place(in.values<TextBlock>()[in.position()], offset_);
  }

  std::string describe_output(const Batch& in, std::size_t record) const override {
    const auto blocks = in.values<TextBlock>();
    if (began_block_ >= blocks.size()) return {};
    const TextBlock& block = blocks[began_block_];
    std::size_t at = began_offset_;
    // Behind a head it is not known how many lines that was.
    const bool exact = at != 0 || block.offset != 0;
    for (; exact && record > 0 && at < block.size; --record) {
      at = decoder_->end_of_record(block.view(), at);
    }
    const std::string where = place(block, at);
    return exact && record == 0 && at < block.size ? where : "a record made behind " + where;
  }

  std::string_view skip_record(Batch& in) override {
    const TextBlock& block = in.values<TextBlock>()[in.position()];
    const std::string_view skipped = decoder_->skip_record(block.view(), offset_);
    if (offset_ == block.size) {
      offset_ = 0;
      in.advance_to(in.position() + 1);
    }
    return skipped;
  }

 private:
  std::string place(const TextBlock& block, std::size_t offset) const {
    if (decoder_->has_lines()) return describe_text_position(block, offset, context());
    const std::string byte = "byte " + std::to_string(block.offset + offset);
    return block.origin == nullptr ? byte : *block.origin + ", " + byte;
  }

  const TypeDescriptor& type_;
  std::unique_ptr<Decoder> decoder_;
  std::size_t offset_ = 0;  // of the next record, in the block at in.position()
  // Where the last call began.
  std::size_t began_block_ = 0;
  std::size_t began_offset_ = 0;
};

// Messages to records. A message that can't be read is bad as a whole; what was made of it before
// stays made.
class MessageDecodeOperator final : public Operator {
 public:
  MessageDecodeOperator(const TypeDescriptor& type, std::unique_ptr<Decoder> decoder)
      : type_(type), decoder_(std::move(decoder)) {}

  void declare(Output& out) const override { out.add_port(type_); }
  bool keeps_splits() const override { return true; }
  bool can_skip_record() const override { return true; }

  OperatorResult process(Batch& in, Output& out) override {
    Batch& target = out.batch();
    const auto messages = in.values<std::string_view>();
    for (std::size_t i = in.position(); i < messages.size(); in.advance_to(++i), offset_ = 0) {
      const std::size_t before = target.size();
      const Decoder::Outcome outcome =
          decoder_->decode(messages[i], offset_, target, out.soft_limit());
      stamp(target, before, target.size(), in.has_timestamps() ? in.timestamps()[i] : no_timestamp);
      if (outcome == Decoder::Outcome::full) return OperatorResult::more;
      if (outcome == Decoder::Outcome::unavailable) {
        return context().fail({ErrorCode::operator_failed, decoder_->why()});
      }
      if (outcome != Decoder::Outcome::done) {
        offset_ = 0;
        throw BadRecord(decoder_->why());
      }
    }
    return OperatorResult::done;
  }

 private:
  const TypeDescriptor& type_;
  std::unique_ptr<Decoder> decoder_;
  std::size_t offset_ = 0;  // in the message at in.position()
};

// Records to blocks of whole lines, or to a message each.
class EncodeOperator final : public Operator {
 public:
  static constexpr std::size_t chunk_bytes = 64 << 10;

  EncodeOperator(const RecordShape& shape, const TypeDescriptor& type,
                 std::unique_ptr<Encoder> encoder, EncodeTo to)
      : shape_(shape), type_(type), encoder_(std::move(encoder)), to_(to) {}

  void declare(Output& out) const override {
    switch (to_) {
      case EncodeTo::blocks: return out.add_port(type_of<TextBlock>());
      case EncodeTo::messages: return out.add_port(type_of<std::string_view>());
      case EncodeTo::file: return out.add_port(type_of<FormattedText>());
    }
  }
  bool keeps_splits() const override { return true; }
  bool one_for_one() const override { return to_ == EncodeTo::messages; }
  Status open() override { return encoder_->open(); }

  OperatorResult process(Batch& in, Output& out) override {
    HUMMER_ASSERT(in.type() == type_);
    while (!in.finished()) {
      if (out.full()) return OperatorResult::more;
      to_ == EncodeTo::messages ? put_message(in, out) : put_block(in, out);
    }
    return OperatorResult::done;
  }

 private:
  const void* record(const Batch& in, std::size_t at) const {
    return static_cast<const char*>(in.raw_values()) + at * shape_.size_bytes;
  }

  void put_block(Batch& in, Output& out) {
    text_.clear();
    std::size_t at = in.position();
    for (; at < in.size() && text_.size() < chunk_bytes; ++at) {
      encoder_->encode(record(in, at), text_);
    }
    encoder_->end_block(text_);
    if (to_ == EncodeTo::file) {
      auto collector = out.collector<FormattedText>();
      collector(FormattedText{collector.copy(text_), at - in.position()});
    } else {
      auto collector = out.collector<TextBlock>();
      const std::string_view kept = collector.copy(text_);
      const std::uint64_t offset = encoder_->has_lines() ? 0 : TextBlock::no_lines;
      collector(TextBlock{kept.data(), kept.size(), offset, nullptr});
    }
    in.advance_to(at);
  }

  void put_message(Batch& in, Output& out) {
    auto collector = out.collector<std::string_view>();
    std::size_t at = in.position();
    const std::size_t before = collector.size();
    for (; at < in.size() && !collector.full(); ++at) {
      text_.clear();
      encoder_->encode_message(record(in, at), text_);
      collector(collector.copy(text_));
    }
    collector.commit();
    const BatchRun run{in.position(), before, at - in.position()};
    carry_timestamps(in, run, run.count, out.batch());
    in.advance_to(at);
  }

  const RecordShape& shape_;
  const TypeDescriptor& type_;
  std::unique_ptr<Encoder> encoder_;
  const EncodeTo to_;
  std::string text_;
};

}  // namespace

std::shared_ptr<const OperatorFactory> make_decode_factory(std::shared_ptr<const Format> format,
                                                           const RecordShape& shape,
                                                           const TypeDescriptor& type,
                                                           bool messages) {
  return make_operator_factory(
      [format = std::move(format), &shape, &type, messages]() -> std::unique_ptr<Operator> {
        auto decoder = format->make_decoder(shape);
        if (messages) return std::make_unique<MessageDecodeOperator>(type, std::move(decoder));
        return std::make_unique<DecodeOperator>(type, std::move(decoder));
      });
}

std::shared_ptr<const OperatorFactory> make_encode_factory(std::shared_ptr<const Format> format,
                                                           const RecordShape& shape,
                                                           const TypeDescriptor& type,
                                                           EncodeTo to) {
  return make_operator_factory([format = std::move(format), &shape, &type, to] {
    return std::make_unique<EncodeOperator>(shape, type, format->make_encoder(shape), to);
  });
}

void check_format(StreamExecutionEnvironment& env, const Format& format, const RecordShape& shape,
                  std::string_view call, bool messages, bool writing) {
  const std::string what = std::string(call) + "<" + std::string(shape.name) + ">(…, " +
                           std::string(format.name()) + "(…)): ";
  const Status status = writing ? format.check_writing(shape) : format.check(shape);
  if (!status.ok()) {
    env.refuse(what + status.message());
  } else if (messages && format.has_head()) {
    env.refuse(what + "a message has no header: set the option header to false");
  }
}

}  // namespace hummer::formats
