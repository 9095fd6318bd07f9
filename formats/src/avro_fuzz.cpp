// Any bytes as Avro: as a schema, as a whole container file, as its head and blocks through the
// framing, and as records of a drawn schema, also as JSON. What is read ends; nothing behind the
// bytes is read; a schema's canonical form is a schema of the same form; JSON is JSON.
#include <optional>

#include "avro_container.hpp"
#include "avro_decoder.hpp"
#include "avro_encoder.hpp"
#include "avro_json.hpp"
#include "decoded_for_test.hpp"

namespace {

using namespace hummer::formats;

struct Inner {
  std::string_view venue;
  std::vector<std::optional<std::int64_t>> lots;
};
struct Fields {
  std::string_view name;
  std::optional<double> price;
  std::int8_t small = 0;
  std::vector<Inner> list;
  std::optional<Inner> inner;
  std::string text;
};

void decode_file(std::string_view text, std::size_t limit) {
  const auto copy = std::make_unique<char[]>(text.size() + hummer::read_slack_bytes);
  std::copy(text.begin(), text.end(), copy.get());
  const hummer::TextBlock block{copy.get(), text.size(), 0, nullptr};
  AvroDecoder decoder(shape_of<Fields>(),
                      {.refuse_missing_fields = false, .max_block_bytes = 1 << 20});
  std::size_t at = 0;
  if (!decoder.begin(block, at).ok()) return;
  hummer::Batch batch(hummer::type_of<Fields>(), 64);
  auto outcome = Decoder::Outcome::full;
  std::size_t records = 0;
  while (outcome == Decoder::Outcome::full || outcome == Decoder::Outcome::bad_record) {
    batch.clear();
    outcome = decoder.decode(block.view(), at, batch, limit);
    records += batch.size();
    if (at > text.size()) __builtin_trap();
    if (outcome == Decoder::Outcome::bad_record) (void)decoder.skip_record(block.view(), at);
    // Records of nothing take no bytes.
    if (records > 4 << 20) return;
  }
}

void walk_units(std::string_view text) {
  const hummer::RecordFraming& framing = avro_framing();
  const auto head = framing.head_bytes(text);
  if (!head.ok() || *head > text.size()) return;
  for (std::size_t at = *head; at < text.size();) {
    const auto unit = framing.unit_bytes(text.substr(at));
    if (!unit.ok() || *unit > text.size() - at) return;
    if (*unit == 0) __builtin_trap();
    at += *unit;
  }
}

// Whatever a struct could hold of them.
void show_records(std::string_view schema_text, std::string_view records) {
  const auto schema = AvroSchema::parse(schema_text);
  if (!schema.ok()) return;
  const auto copy = std::make_unique<char[]>(records.size());
  std::copy(records.begin(), records.end(), copy.get());
  constexpr std::size_t most_bytes = 1 << 14;
  constexpr int most_records = 64;
  AvroJson json(most_bytes);
  const char* const end = copy.get() + records.size();
  json.begin(end);
  const char* at = copy.get();
  for (int i = 0; i < most_records; ++i) {
    std::string text;
    at = json.append(schema->root(), at, text);
    if (at == nullptr && json.why().empty()) __builtin_trap();
    if (at == nullptr) return;
    if (at > end) __builtin_trap();
    const auto value = parse_schema_text(text);
    if (!value.ok() && value.status().code() == hummer::ErrorCode::corrupt_record) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t limit = data[0] >> 3 == 0 ? 64 : data[0] >> 3;
  if ((data[0] & 1) != 0) {
    const auto schema = AvroSchema::parse(text);
    if (!schema.ok()) return 0;
    const std::string form = schema->canonical_form();
    const auto again = AvroSchema::parse(form);
    if (!again.ok() || again->canonical_form() != form) __builtin_trap();
    (void)AvroRecordWriter::make(std::move(*AvroSchema::parse(text)), shape_of<Fields>());
  } else if ((data[0] & 2) != 0) {
    // A schema, a byte 0, and a block's records.
    const std::size_t end = std::min(text.find('\0'), text.size());
    std::string file = make_avro_head(text.substr(0, end), AvroOptions::Codec::null);
    const std::string mark = file.substr(file.size() - avro_mark_bytes);
    const std::string records = text.substr(std::min(end + 1, text.size()));
    file.push_back(static_cast<char>((data[0] >> 3) * 2));
    for (std::size_t left = records.size() * 2; true; left >>= 7) {
      file.push_back(static_cast<char>(left < 0x80 ? left : left | 0x80));
      if (left < 0x80) break;
    }
    decode_file(file + records + mark, limit);
    show_records(text.substr(0, end), records);
  } else {
    walk_units(text);
    decode_file(text, limit);
  }
  return 0;
}
