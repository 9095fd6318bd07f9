// mutated_files [--variants N] [--seed N]: golden files of other programs with mistakes in them.
//
// Of each file in formats/golden, N variants: bytes flipped, dropped, doubled, put in, runs of them
// swapped, the end cut off. Each is decoded twice, with room for many records and for few; both
// must come to the same records and to the same bad ones, and take all of the text, unless a
// mistake in how it is framed ends both at the same place. A compressed file goes through each
// library, which must agree on whether it is whole, and on what is in it. Memory errors are the
// sanitizer's to find, where it is built with one.
//
// To add a format: a row in `files`. Prints a line for each; the exit code is 1 when a variant
// comes to two results.
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>

#include <boost/pfr.hpp>

#include <hummer/detail/record_framing.hpp>
#include <hummer/formats/avro.hpp>
#include <hummer/formats/csv.hpp>
#include <hummer/formats/protobuf.hpp>
#include <hummer/formats/raw.hpp>
#include <hummer/hummer.hpp>

#include "connectors/file/gzip_decompressor.hpp"
#include "src/avro_codec.hpp"
#include "src/decoded_for_test.hpp"
#include "src/golden_for_test.hpp"
#ifdef HUMMER_WITH_JSON
#include <hummer/formats/json.hpp>
#endif
#ifdef HUMMER_WITH_PATTERNS
#include <hummer/formats/pattern.hpp>
#endif

namespace {

using namespace hummer;
using namespace hummer::formats;

struct Golden {
  std::int64_t id = 0;
  std::string name;
  double price = 0;
  std::int32_t size = 0;
  bool firm = false;
  std::optional<std::string> note;
};
struct Event {
  std::optional<std::int32_t> priority;
  std::optional<std::int64_t> time;
  std::string_view host;
  std::optional<std::string_view> message;
};
struct Tick {
  std::uint32_t symbol = 0;
  double price = 0;
  bool last = false;
};

struct Leg {
  std::string_view venue;
  std::vector<std::int64_t> lots;
};
struct LegCount {
  std::string_view key;
  std::optional<std::int64_t> value;
};
struct Evolved {
  std::int8_t small = 0;
  double as_double = 0;
  float as_float = 0;
  std::string_view raw;
  std::string hash;
  std::string_view side_text;
  Leg leg;
  std::vector<Leg> legs;
  std::optional<Leg> last;
  std::vector<LegCount> counts;
  std::optional<std::int64_t> number;
  std::vector<std::optional<std::int32_t>> marks;
};
struct Logical {
  std::string_view price;
  std::string amount;
  std::int32_t day = 0;
  std::optional<std::int64_t> millis;
  std::string_view id;
  std::vector<double> reals;
};
struct Pair {
  std::string_view key;
  std::int32_t value = 0;
};
struct Everything {
  std::int32_t i32 = 0;
  std::uint64_t u64 = 0;
  std::int64_t s64 = 0;
  std::uint32_t f32 = 0;
  float real = 0;
  bool flag = false;
  std::string text;
  std::string_view raw;
  std::optional<Leg> maybe;
  std::vector<Leg> parts;
  std::vector<std::int32_t> packed;
  std::vector<std::int32_t> unpacked;
  std::vector<std::string_view> texts;
  std::vector<Pair> counts;
  std::optional<std::int32_t> number;
  std::optional<std::string_view> word;
};

// All of it: numbers as their bytes.
template <typename T>
void show(const T& value, std::string& text) {
  if constexpr (std::is_arithmetic_v<T>) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    text.append(std::to_string(value.size()) + ":").append(value);
  } else if constexpr (requires { value.has_value(); }) {
    text += value ? "?" : "-";
    if (value) show(*value, text);
  } else if constexpr (std::is_aggregate_v<T>) {
    boost::pfr::for_each_field(value, [&](const auto& each) { show(each, text); });
  } else {
    text += std::to_string(value.size()) + "[";
    for (const auto& each : value) show(each, text);
  }
}

// What a text comes to: for comparison alone.
using Read = std::string (*)(const std::string& text, std::size_t limit);

std::string said(const DecodedText& found) {
  std::string text =
      std::to_string(found.failed) + " " + std::to_string(found.records.size()) + " ";
  for (const std::string& record : found.records) text += record;
  for (const std::size_t at : found.bad) text += "," + std::to_string(at);
  return text;
}

template <typename T>
std::string read_by(const Format& format, const std::string& text, std::size_t limit) {
  const auto decoder = format.make_decoder(shape_of<T>());
  return said(decode_all<T>(*decoder, text, limit, true, [](const T& record) {
    std::string shown;
    show(record, shown);
    return shown;
  }));
}

constexpr auto quoted = CsvOptions::LineBreaks::quoted;

std::string read_csv(const std::string& text, std::size_t limit) {
  static const auto format = csv({.line_breaks = quoted, .null_text = "NULL"});
  return read_by<Golden>(*format, text, limit);
}
std::string read_tabs(const std::string& text, std::size_t limit) {
  static const auto format =
      csv({.separator = '\t', .quote = '\'', .line_breaks = quoted, .null_text = "NULL"});
  return read_by<Golden>(*format, text, limit);
}
#ifdef HUMMER_WITH_JSON
std::string read_json(const std::string& text, std::size_t limit) {
  static const auto format = json();
  return read_by<Golden>(*format, text, limit);
}
#endif
#ifdef HUMMER_WITH_PATTERNS
std::string read_rfc3164(const std::string& text, std::size_t limit) {
  static const auto format = syslog_rfc3164(2026);
  return read_by<Event>(*format, text, limit);
}
std::string read_rfc5424(const std::string& text, std::size_t limit) {
  static const auto format = syslog_rfc5424();
  return read_by<Event>(*format, text, limit);
}
#endif
std::string read_varint(const std::string& text, std::size_t limit) {
  static const auto format = raw({.framing = RawFraming::varint});
  return read_by<Tick>(*format, text, limit);
}

template <typename T>
std::string read_avro(const std::string& text, std::size_t limit) {
  static const auto format = avro({.max_block_bytes = 1 << 20});
  return read_by<T>(*format, text, limit);
}

template <typename T>
std::string read_protobuf(const std::string& text, std::size_t limit, const char* message) {
  static const auto format =
      protobuf({.descriptor_file = golden_path("golden.desc"), .message = message});
  return read_by<T>(*format, text, limit);
}
std::string read_records(const std::string& text, std::size_t limit) {
  return read_protobuf<Golden>(text, limit, "golden.Record");
}
std::string read_everything(const std::string& text, std::size_t limit) {
  return read_protobuf<Everything>(text, limit, "golden.Everything");
}

// `limit`: few: by zlib, in small steps.
std::string read_gzip(const std::string& text, std::size_t limit) {
  auto decompressor = limit > 100 ? make_isal_decompressor("golden") : nullptr;
  if (decompressor == nullptr) decompressor = make_zlib_decompressor("golden");
  std::string found;
  std::string space(limit * 7, ' ');
  for (std::span<const char> input(text);;) {
    const auto step = decompressor->run(input, space);
    if (!step.ok()) return "damaged";
    input = input.subspan(step->consumed);
    found.append(space, 0, step->produced);
    if (step->consumed == 0 && step->produced == 0) break;
  }
  return decompressor->finish().ok() ? found : "damaged";
}

struct GoldenFile {
  const char* format;
  const char* name;
  Read read;
  const char* codec = nullptr;  // of Avro's, that may not be built in
};
constexpr GoldenFile files[] = {
    {"csv", "excel.csv", &read_csv},
    {"csv", "unix.csv", &read_csv},
    {"csv", "tabs.csv", &read_tabs},
#ifdef HUMMER_WITH_JSON
    {"json", "records.jsonl", &read_json},
#endif
#ifdef HUMMER_WITH_PATTERNS
    {"pattern", "syslog_rfc3164.log", &read_rfc3164},
    {"pattern", "syslog_rfc5424.log", &read_rfc5424},
#endif
    {"raw", "ticks.varint", &read_varint},
    {"gzip", "excel.csv.gz", &read_gzip},
    {"avro", "records_null.avro", &read_avro<Golden>},
    {"avro", "records_deflate.avro", &read_avro<Golden>, "deflate"},
    {"avro", "records_snappy.avro", &read_avro<Golden>, "snappy"},
    {"avro", "records_zstandard.avro", &read_avro<Golden>, "zstandard"},
    {"avro", "evolved.avro", &read_avro<Evolved>},
    {"avro", "logical.avro", &read_avro<Logical>},
    {"protobuf", "records.pb", &read_records},
    {"protobuf", "everything.pb", &read_everything},
};

// A beginning of whole records: a mistake in the head is as likely as one elsewhere, and 10,000
// variants are soon done.
std::string beginning(const GoldenFile& file, const std::string& text) {
  constexpr std::size_t enough = 4096;
  const std::string_view format = file.format;
  if (text.size() <= enough || format == "gzip") return text;
  const RecordFraming* const framing = format == "avro"       ? avro_file().framing
                                       : format == "protobuf" ? protobuf_file().framing
                                                              : nullptr;
  if (framing == nullptr) {
    const std::size_t cut = text.rfind('\n', enough);
    return cut == std::string::npos ? text : text.substr(0, cut + 1);
  }
  std::size_t end = framing->head_bytes(text).value();
  while (end < enough) end += framing->unit_bytes(std::string_view(text).substr(end)).value();
  return text.substr(0, end);
}

std::string mutated(std::string text, std::mt19937_64& random) {
  const auto draw = [&](std::size_t below) { return below == 0 ? 0 : random() % below; };
  for (std::size_t mistakes = 1 + draw(4); mistakes > 0 && !text.empty(); --mistakes) {
    const std::size_t at = draw(text.size());
    const std::size_t count = std::min(1 + draw(20), text.size() - at);
    switch (draw(7)) {
      case 0: text[at] = static_cast<char>(text[at] ^ (1 << draw(8))); break;
      case 1: text.erase(at, count); break;
      case 2: text.insert(at, text.substr(at, count)); break;
      case 3: text.insert(at, 1, static_cast<char>(draw(256))); break;
      case 4: text[at] = "\"'\\,\n\r\t{}[]:0-\xff"[draw(16)]; break;
      case 5: {
        const std::size_t other = draw(text.size());
        std::swap(text[at], text[other]);
        break;
      }
      default: text.resize(at); break;
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t variants = 10'000;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    if (word == "--variants") variants = std::stoul(argv[i + 1]);
    if (word == "--seed") seed = std::stoul(argv[i + 1]);
  }
  for (const GoldenFile& each : files) {
    const std::string text = golden_text(each.name);
    if (each.codec != nullptr && !avro_codec_of(each.codec).ok()) {
      std::cout << each.format << " " << each.name << ": left out, built without its library\n";
      continue;
    }
    const std::string whole = each.read(text, 1024);
    if (whole == "damaged" || whole.starts_with("1 ") || whole.starts_with("0 0 ")) {
      std::cerr << each.name << ": it can't be read as it is\n";
      return 1;
    }
    const std::string part = beginning(each, text);
    std::mt19937_64 random(seed);
    std::size_t as_before = 0;
    const std::string sound = each.read(part, 1024);
    for (std::size_t i = 0; i < variants; ++i) {
      const std::string variant = mutated(part, random);
      const std::string found = each.read(variant, 1024);
      if (found != each.read(variant, 1 + i % 5)) {
        std::cerr << each.name << ": variant " << i << " of seed " << seed
                  << " comes to two results\n";
        std::ofstream("mutated_file", std::ios::binary) << variant;
        return 1;
      }
      as_before += found == sound ? 1 : 0;
    }
    std::cout << each.format << " " << each.name << ": " << variants << " variants, " << as_before
              << " without effect\n";
  }
  return 0;
}
