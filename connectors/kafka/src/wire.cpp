#include "wire.hpp"

namespace hummer::kafka {
namespace {

constexpr std::string_view wire_client_id = "hummer";

class WireWriter {
 public:
  template <typename T>
  WireWriter& number(T value) {
    for (int shift = (sizeof(T) - 1) * 8; shift >= 0; shift -= 8) {
      bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift));
    }
    return *this;
  }
  WireWriter& text(std::string_view text) {
    number(static_cast<std::int16_t>(text.size()));
    return raw(text);
  }
  WireWriter& bytes(std::string_view bytes) {
    number(static_cast<std::int32_t>(bytes.size()));
    return raw(bytes);
  }
  // Of the flexible versions: lengths are one more than they are, as variable numbers.
  WireWriter& variable(std::uint32_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  WireWriter& compact_text(std::string_view text) {
    return variable(static_cast<std::uint32_t>(text.size() + 1)).raw(text);
  }
  WireWriter& no_tags() { return variable(0); }
  WireWriter& raw(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After the first thing that is not there all others are missing, too.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  bool valid() const { return valid_; }
  std::string_view rest() const { return bytes_; }
  template <typename T>
  T number() {
    const std::string_view from = take(sizeof(T));
    std::uint64_t value = 0;
    for (const char byte : from) value = value << 8 | static_cast<unsigned char>(byte);
    return static_cast<T>(value);
  }
  std::uint32_t variable() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        valid_ = valid_ && value <= UINT32_MAX;
        return static_cast<std::uint32_t>(value);
      }
    }
    valid_ = false;
    return 0;
  }
  // A length of -1 is a text that is missing.
  std::string text() { return sized_text(number<std::int16_t>()); }
  std::string bytes() { return sized_text(number<std::int32_t>()); }
  std::string compact_text() { return sized_text(static_cast<std::int64_t>(variable()) - 1); }
  // How many elements follow, of at least so many bytes each.
  std::size_t count(std::size_t least_bytes) {
    return counted(number<std::int32_t>(), least_bytes);
  }
  std::size_t compact_count(std::size_t least_bytes) {
    return counted(static_cast<std::int64_t>(variable()) - 1, least_bytes);
  }
  void skip_tags() {
    for (std::uint32_t left = variable(); valid_ && left > 0; --left) {
      (void)variable();
      (void)take(variable());
    }
  }

 private:
  std::string_view take(std::size_t length) {
    if (!valid_ || length > bytes_.size()) {
      valid_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }
  std::string sized_text(std::int64_t length) {
    valid_ = valid_ && length >= -1;
    return length > 0 ? std::string(take(static_cast<std::size_t>(length))) : std::string();
  }
  std::size_t counted(std::int64_t count, std::size_t least_bytes) {
    if (count <= 0) return valid_ = valid_ && count >= -1, 0;
    valid_ = valid_ && static_cast<std::uint64_t>(count) <= bytes_.size() / least_bytes;
    return valid_ ? static_cast<std::size_t>(count) : 0;
  }

  std::string_view bytes_;
  bool valid_ = true;
};

bool is_flexible(Api api) { return api == Api::describe_transactions; }

}  // namespace

std::int16_t version_of(Api api) {
  switch (api) {
    case Api::find_coordinator: return 1;
    case Api::sasl_handshake: return 1;
    case Api::api_versions: return 0;
    case Api::init_producer_id: return 1;
    case Api::end_transaction: return 2;
    case Api::sasl_authenticate: return 0;
    case Api::describe_transactions: return 0;
  }
  return 0;
}

std::string request_of(Api api, std::int32_t correlation, std::string_view body) {
  WireWriter head;
  head.number(static_cast<std::int16_t>(api)).number(version_of(api)).number(correlation);
  head.text(wire_client_id);
  if (is_flexible(api)) head.no_tags();
  return WireWriter().bytes(head.take().append(body)).take();
}

std::string find_coordinator(std::string_view transactional_id) {
  constexpr std::int8_t of_transaction = 1;
  return WireWriter().text(transactional_id).number(of_transaction).take();
}

std::string sasl_handshake(std::string_view mechanism) {
  return WireWriter().text(mechanism).take();
}

std::string sasl_authenticate(std::string_view bytes) { return WireWriter().bytes(bytes).take(); }

std::string init_producer_id(std::string_view transactional_id, std::int32_t timeout_ms) {
  return WireWriter().text(transactional_id).number(timeout_ms).take();
}

std::string end_transaction(std::string_view transactional_id, const ProducerIdentity& producer,
                            bool commits) {
  return WireWriter()
      .text(transactional_id)
      .number(producer.id)
      .number(producer.epoch)
      .number(static_cast<std::int8_t>(commits))
      .take();
}

std::string describe_transaction(std::string_view transactional_id) {
  constexpr std::uint32_t one = 2;  // and one more
  return WireWriter().variable(one).compact_text(transactional_id).no_tags().take();
}

bool parse_head(Api api, std::string_view& answer, std::int32_t& correlation) {
  WireReader in(answer);
  correlation = in.number<std::int32_t>();
  if (is_flexible(api)) in.skip_tags();
  answer = in.rest();
  return in.valid();
}

bool parse_api_versions(std::string_view body, std::int16_t& error, std::vector<ApiRange>& ranges) {
  WireReader in(body);
  error = in.number<std::int16_t>();
  for (std::size_t left = in.count(sizeof(ApiRange)); left > 0; --left) {
    ApiRange& range = ranges.emplace_back();
    range.api = in.number<std::int16_t>();
    range.lowest = in.number<std::int16_t>();
    range.highest = in.number<std::int16_t>();
  }
  return in.valid();
}

bool parse_find_coordinator(std::string_view body, FoundCoordinator& found) {
  WireReader in(body);
  (void)in.number<std::int32_t>();  // how long the broker held it back
  found.error = in.number<std::int16_t>();
  found.message = in.text();
  (void)in.number<std::int32_t>();  // the broker's number
  found.host = in.text();
  found.port = in.number<std::int32_t>();
  return in.valid();
}

bool parse_sasl_handshake(std::string_view body, std::int16_t& error,
                          std::vector<std::string>& mechanisms) {
  WireReader in(body);
  error = in.number<std::int16_t>();
  for (std::size_t left = in.count(sizeof(std::int16_t)); in.valid() && left > 0; --left) {
    mechanisms.push_back(in.text());
  }
  return in.valid();
}

bool parse_sasl_authenticate(std::string_view body, SaslAnswer& answer) {
  WireReader in(body);
  answer.error = in.number<std::int16_t>();
  answer.message = in.text();
  answer.bytes = in.bytes();
  return in.valid();
}

bool parse_init_producer_id(std::string_view body, InitializedProducer& initialized) {
  WireReader in(body);
  (void)in.number<std::int32_t>();
  initialized.error = in.number<std::int16_t>();
  initialized.producer.id = in.number<std::int64_t>();
  initialized.producer.epoch = in.number<std::int16_t>();
  return in.valid();
}

bool parse_end_transaction(std::string_view body, std::int16_t& error) {
  WireReader in(body);
  (void)in.number<std::int32_t>();
  error = in.number<std::int16_t>();
  return in.valid();
}

bool parse_describe_transaction(std::string_view body, DescribedTransaction& described) {
  constexpr std::size_t least_transaction_bytes = 29, least_topic_bytes = 3;
  WireReader in(body);
  (void)in.number<std::int32_t>();
  if (in.compact_count(least_transaction_bytes) != 1) return false;
  described.error = in.number<std::int16_t>();
  (void)in.compact_text();  // the id that was asked for
  described.state = in.compact_text();
  described.timeout_ms = in.number<std::int32_t>();
  described.start_ms = in.number<std::int64_t>();
  described.producer.id = in.number<std::int64_t>();
  described.producer.epoch = in.number<std::int16_t>();
  for (std::size_t topics = in.compact_count(least_topic_bytes); in.valid() && topics > 0;
       --topics) {
    auto& [topic, partitions] = described.partitions.emplace_back();
    topic = in.compact_text();
    for (std::size_t left = in.compact_count(sizeof(std::int32_t)); in.valid() && left > 0;
         --left) {
      partitions.push_back(in.number<std::int32_t>());
    }
    in.skip_tags();
  }
  in.skip_tags();
  in.skip_tags();
  return in.valid();
}

}  // namespace hummer::kafka
