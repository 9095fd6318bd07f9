#include "avro_decoder.hpp"

#include <cstring>
#include <utility>

#include "avro_container.hpp"

namespace hummer::formats {
namespace {

constexpr std::string_view single_object_mark("\xC3\x01", 2);
// Schemas that can't be used: a message's number may be anything.
constexpr std::size_t most_refused = 1024;

}  // namespace

AvroDecoder::AvroDecoder(const RecordShape& shape, const AvroOptions& options)
    : shape_(shape), options_(options), rules_{options.refuse_missing_fields, options.aliases} {}

Result<std::unique_ptr<const AvroPlan>> AvroDecoder::make_plan(std::string_view schema) const {
  Result<AvroSchema> parsed = AvroSchema::parse(schema);
  if (!parsed.ok()) return parsed.status();
  return AvroPlan::make(std::move(*parsed), shape_, rules_);
}

Status AvroDecoder::begin(const TextBlock& block, std::size_t& at) {
  is_file_ = true;
  left_ = 0;
  next_ = end_ = nullptr;
  const auto named = [&](const Status& status) {
    return block.origin == nullptr
               ? status
               : Status(status.code(), "'" + *block.origin + "': " + status.message());
  };
  if (block.offset != 0) {
    if (plan_ != nullptr) return {};
    return named({ErrorCode::corrupt_record,
                  "a part of an Avro file came without its head: read it by avro_file() "
                  "(hummer/formats/avro.hpp), and decode right behind the source"});
  }
  const Result<AvroHead> head = read_avro_head(block.view());
  if (!head.ok()) return named(head.status());
  if (head->size > block.size) {
    return named({ErrorCode::corrupt_file, "the head of the Avro file is not whole"});
  }
  at = head->size;
  const std::string_view text = block.view().substr(0, head->size);
  if (text == head_) return {};
  const Result<AvroOptions::Codec> codec = avro_codec_of(head->codec);
  if (!codec.ok()) return named(codec.status());
  auto plan = make_plan(head->schema);
  if (!plan.ok()) return named(plan.status());
  plan_ = std::move(*plan);
  codec_.reset();
  if (*codec != AvroOptions::Codec::null) codec_.emplace(*codec);
  head_ = text;
  return {};
}

Decoder::Outcome AvroDecoder::decode(std::string_view text, std::size_t& at, Batch& batch,
                                     std::size_t limit) {
  RecordRun run(shape_, batch, limit);
  return is_file_ ? decode_blocks(text, at, run, batch) : decode_message(text, at, run, batch);
}

Decoder::Outcome AvroDecoder::decode_blocks(std::string_view text, std::size_t& at, RecordRun& run,
                                            Batch& batch) {
  // This batch has views into it, too.
  if (left_ > 0 && codec_) batch.keep(codec_->buffer());
  while (true) {
    if (left_ == 0) {
      if (next_ != end_) {
        why_ = "the block has " + std::to_string(end_ - next_) +
               " bytes behind its last record: it is damaged";
        return Outcome::failed;
      }
      if (at == text.size()) return Outcome::done;
      if (!open_block(text, at)) return Outcome::failed;
      if (left_ == 0) {
        at = block_end_;
        continue;
      }
      at = data_at_;
      if (codec_) batch.keep(codec_->buffer());
    }
    reader_.begin(*plan_, batch, end_);
    while (left_ > 0) {
      if (run.full()) {
        at = place(text);
        return Outcome::full;
      }
      const char* const behind = reader_.read(next_, run.next());
      if (behind == nullptr || reader_.is_bad()) [[unlikely]] {
        at = place(text);
        why_ = "record " + std::to_string(records_ - left_ + 1) + " of the block's " +
               std::to_string(records_) + ": " + reader_.why();
        if (behind == nullptr) return Outcome::failed;
        bad_ = {next_, static_cast<std::size_t>(behind - next_)};
        next_ = behind;
        --left_;
        return Outcome::bad_record;
      }
      next_ = behind;
      --left_;
      run.keep();
    }
    at = block_end_;
  }
}

// REQUIRES: at < text.size()
bool AvroDecoder::open_block(std::string_view text, std::size_t at) {
  const Result<AvroBlock> block = read_avro_block(text.substr(at));
  if (!block.ok() || block->size > text.size() - at) {
    why_ = block.ok() ? "the block of an Avro file is not whole" : block.status().message();
    return false;
  }
  std::string_view data = block->data;
  data_at_ = static_cast<std::size_t>(data.data() - text.data());
  block_end_ = at + block->size;
  if (codec_) {
    const Result<std::string_view> unpacked = codec_->unpack(data, options_.max_block_bytes);
    if (!unpacked.ok()) {
      why_ = unpacked.status().message();
      return false;
    }
    data = *unpacked;
  }
  const std::size_t least = plan_->schema.root().least_bytes;
  const std::uint64_t most =
      least > 0 ? data.size() / least : AvroRecordReader::most_empty_elements;
  if (block->records > most) {
    why_ = "the block says that it has " + std::to_string(block->records) + " records in " +
           std::to_string(data.size()) + " bytes, which can't be";
    return false;
  }
  left_ = records_ = block->records;
  next_ = data.data();
  end_ = data.data() + data.size();
  return true;
}

std::size_t AvroDecoder::place(std::string_view text) const {
  return codec_ ? data_at_ : static_cast<std::size_t>(next_ - text.data());
}

std::string_view AvroDecoder::skip_record(std::string_view text, std::size_t& at) {
  at = left_ == 0 && next_ == end_ ? block_end_ : place(text);
  return bad_;
}

Decoder::Outcome AvroDecoder::decode_message(std::string_view text, std::size_t& at, RecordRun& run,
                                             Batch& batch) {
  if (run.full()) return Outcome::full;
  Outcome outcome = Outcome::bad_record;
  std::string_view left = text;
  const AvroPlan* const plan = plan_of_message(left, outcome);
  if (plan == nullptr) return outcome;
  const char* const end = left.data() + left.size();
  reader_.begin(*plan, batch, end);
  const char* const behind = reader_.read(left.data(), run.next());
  if (behind == nullptr || reader_.is_bad()) {
    why_ = reader_.why();
    return Outcome::bad_record;
  }
  if (behind != end) {
    why_ = "the message has " + std::to_string(end - behind) +
           " bytes behind its record: it was written by another schema";
    return Outcome::bad_record;
  }
  run.keep();
  at = text.size();
  return Outcome::done;
}

const AvroPlan* AvroDecoder::plan_of_message(std::string_view& text, Outcome& outcome) {
  switch (options_.form) {
    case AvroOptions::Form::plain: {
      if (plain_ == nullptr) {
        auto plan = make_plan(options_.schema.empty() ? avro_schema_of(shape_, options_.name)
                                                      : options_.schema);
        if (!plan.ok()) {
          why_ = plan.status().message();
          outcome = Outcome::unavailable;
          return nullptr;
        }
        plain_ = std::move(*plan);
      }
      return plain_.get();
    }
    case AvroOptions::Form::single_object: {
      std::uint64_t fingerprint = 0;
      if (text.size() < single_object_mark.size() + sizeof fingerprint ||
          !text.starts_with(single_object_mark)) {
        why_ = "the message does not begin with the bytes C3 01 and a fingerprint";
        return nullptr;
      }
      std::memcpy(&fingerprint, text.data() + single_object_mark.size(), sizeof fingerprint);
      text.remove_prefix(single_object_mark.size() + sizeof fingerprint);
      if (newest_plan_ != nullptr && newest_ == fingerprint) return newest_plan_;
      newest_plan_ = plan_by_fingerprint(fingerprint);
      newest_ = fingerprint;
      return newest_plan_;
    }
    case AvroOptions::Form::registry: {
      constexpr std::size_t head_bytes = 5;
      if (text.size() < head_bytes || text[0] != 0) {
        why_ = "the message does not begin with a byte 0 and the number of its schema";
        return nullptr;
      }
      std::uint32_t id = 0;
      std::memcpy(&id, text.data() + 1, sizeof id);
      id = __builtin_bswap32(id);
      text.remove_prefix(head_bytes);
      if (newest_plan_ != nullptr && newest_ == id) return newest_plan_;
      newest_plan_ = plan_by_number(id, outcome);
      newest_ = id;
      return newest_plan_;
    }
  }
  return nullptr;
}

const AvroPlan* AvroDecoder::plan_by_number(std::uint32_t id, Outcome& outcome) {
  if (const auto known = plans_.find(id); known != plans_.end()) return known->second.get();
  if (const auto known = refused_.find(id); known != refused_.end()) {
    why_ = known->second;
    return nullptr;
  }
  const auto refuse = [&](const std::string& why) {
    if (refused_.size() >= most_refused) refused_.clear();
    refused_[id] = why_ = why;
  };
  const std::string name = "the schema " + std::to_string(id);
  const Result<std::string> schema = options_.registry->schema(id, SchemaRegistry::Language::avro);
  if (!schema.ok()) {
    why_ = name + ": " + schema.status().message();
    const ErrorCode code = schema.status().code();
    if (code == ErrorCode::not_found || code == ErrorCode::corrupt_record) {
      refuse(why_);
    } else {
      outcome = Outcome::unavailable;
    }
    return nullptr;
  }
  auto plan = make_plan(*schema);
  if (!plan.ok()) {
    refuse(name + ": " + plan.status().message());
    return nullptr;
  }
  return plans_.emplace(id, std::move(*plan)).first->second.get();
}

const AvroPlan* AvroDecoder::plan_by_fingerprint(std::uint64_t fingerprint) {
  if (plans_.empty()) {
    std::vector<std::string> schemas = options_.other_schemas;
    schemas.push_back(options_.schema.empty() ? avro_schema_of(shape_, options_.name)
                                              : options_.schema);
    for (const std::string& text : schemas) {
      auto plan = make_plan(text);
      if (plan.ok()) plans_.emplace((*plan)->schema.fingerprint(), std::move(*plan));
    }
  }
  const auto found = plans_.find(fingerprint);
  if (found != plans_.end()) return found->second.get();
  why_ = "the message's schema, by its fingerprint, is none of those of the options";
  return nullptr;
}

}  // namespace hummer::formats
