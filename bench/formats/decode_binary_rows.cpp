// decode_binary_rows WHAT [--rows N] [--runs N]: the rows of decode_rows.cpp as Avro and as
// Protobuf, how fast they become records on one core, from memory.
//
//   avro       Hummer's decoder, a container file's blocks of about 64 KiB, not packed
//   libavro    Avro's C library: avro_value_read of the same records, and their fields out of the
//              value
//   protobuf   Hummer's decoder, messages with their lengths ahead, in blocks of about 64 KiB
//   generated  the code that protoc makes: ParseFromArray of the same messages into one that is
//              reused
//   write_avro, write_protobuf   the other way, Hummer's encoders
//
// Prints one line of JSON: the median of the runs, and the totals that all must agree on.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <trade.pb.h>

#include <hummer/formats/avro.hpp>
#include <hummer/formats/csv.hpp>
#include <hummer/formats/protobuf.hpp>
#include <hummer/hummer.hpp>

#include "formats/row_timing.hpp"
#include "formats/trade_rows.hpp"
#ifdef HUMMER_BENCH_LIBAVRO
#include <avro.h>
#endif

namespace {

using namespace hummer;

constexpr std::size_t block_bytes = 64 << 10;

// The rows as records, whose texts point into `text`.
std::vector<Trade> trades_of(const std::string& text) {
  const auto decoder = formats::csv()->make_decoder(formats::shape_of<Trade>());
  const std::string origin = "rows";
  const TextBlock block{text.data(), text.size(), 0, &origin};
  std::vector<Trade> trades;
  std::size_t at = 0;
  if (!decoder->begin(block, at).ok()) std::abort();
  Batch batch(type_of<Trade>(), default_batch_records);
  auto outcome = formats::Decoder::Outcome::full;
  while (outcome == formats::Decoder::Outcome::full) {
    batch.clear();
    outcome = decoder->decode(block.view(), at, batch, default_batch_records);
    const auto values = batch.values<Trade>();
    trades.insert(trades.end(), values.begin(), values.end());
  }
  if (outcome != formats::Decoder::Outcome::done) std::abort();
  return trades;
}

// What a file has behind its head, in blocks as the source hands them on.
std::vector<std::string> blocks_of(const std::vector<Trade>& trades,
                                   const formats::Format& format) {
  const auto encoder = format.make_encoder(formats::shape_of<Trade>());
  if (!encoder->open().ok()) std::abort();
  std::vector<std::string> blocks;
  for (std::size_t i = 0; i < trades.size();) {
    std::string& text = blocks.emplace_back();
    for (; i < trades.size() && text.size() < block_bytes; ++i) encoder->encode(&trades[i], text);
    encoder->end_block(text);
    text.reserve(text.size() + read_slack_bytes);
  }
  return blocks;
}

std::size_t bytes_of(const std::vector<std::string>& blocks) {
  std::size_t bytes = 0;
  for (const std::string& block : blocks) bytes += block.size();
  return bytes;
}

int decode(const Settings& settings, const std::string& what, const formats::Format& format) {
  const std::string rows = trade_rows(settings.rows, false);
  const std::string head = format.head(formats::shape_of<Trade>());
  const auto blocks = blocks_of(trades_of(rows), format);
  const auto decoder = format.make_decoder(formats::shape_of<Trade>());
  const std::string origin = "rows";
  std::size_t at = 0;
  if (!decoder->begin({head.data(), head.size(), 0, &origin}, at).ok()) std::abort();
  std::vector<double> times;
  Totals totals;
  for (int run = 0; run <= settings.runs; ++run) {
    Batch batch(type_of<Trade>(), default_batch_records);
    const double took = processor_seconds([&] {
      for (const std::string& text : blocks) {
        const TextBlock block{text.data(), text.size(), 1, &origin};
        at = 0;
        if (!decoder->begin(block, at).ok()) std::abort();
        auto outcome = formats::Decoder::Outcome::full;
        while (outcome == formats::Decoder::Outcome::full) {
          batch.clear();
          outcome = decoder->decode(block.view(), at, batch, default_batch_records);
          // The first run is for the totals, and to warm up.
          if (run > 0) continue;
          for (const Trade& trade : batch.values<Trade>()) totals.add(trade);
        }
        if (outcome != formats::Decoder::Outcome::done) std::abort();
      }
    });
    if (run > 0) times.push_back(took);
  }
  report(what, bytes_of(blocks), times, totals);
  return 0;
}

int encode(const Settings& settings, const std::string& what, const formats::Format& format) {
  const std::string rows = trade_rows(settings.rows, false);
  const auto trades = trades_of(rows);
  const auto encoder = format.make_encoder(formats::shape_of<Trade>());
  if (!encoder->open().ok()) std::abort();
  Totals totals;
  for (const Trade& trade : trades) totals.add(trade);
  std::vector<double> times;
  std::size_t bytes = 0;
  std::string text;
  for (int run = 0; run <= settings.runs; ++run) {
    bytes = 0;
    const double took = processor_seconds([&] {
      for (std::size_t i = 0; i < trades.size();) {
        text.clear();
        for (; i < trades.size() && text.size() < block_bytes; ++i) {
          encoder->encode(&trades[i], text);
        }
        encoder->end_block(text);
        bytes += text.size();
      }
    });
    if (run > 0) times.push_back(took);
  }
  report(what, bytes, times, totals);
  return 0;
}

int generated(const Settings& settings) {
  const std::string rows = trade_rows(settings.rows, false);
  const auto blocks = blocks_of(trades_of(rows), *formats::protobuf());
  trade_messages::TradeMessage message;
  std::vector<double> times;
  Totals totals;
  for (int run = 0; run <= settings.runs; ++run) {
    const double took = processor_seconds([&] {
      for (const std::string& text : blocks) {
        for (std::size_t at = 0; at < text.size();) {
          // Rows are shorter than two bytes can say.
          std::size_t size = static_cast<unsigned char>(text[at++]);
          if (size >= 0x80) {
            size = (size & 0x7F) | static_cast<std::size_t>(text[at++]) << 7;
          }
          if (!message.ParseFromArray(text.data() + at, static_cast<int>(size))) std::abort();
          at += size;
          if (run > 0) continue;
          totals.add({message.id(), message.time(), message.symbol(), message.price(),
                      message.size(), message.venue(), message.bid(), message.ask(),
                      message.note()});
        }
      }
    });
    if (run > 0) times.push_back(took);
  }
  report("generated", bytes_of(blocks), times, totals);
  return 0;
}

#ifdef HUMMER_BENCH_LIBAVRO
int libavro(const Settings& settings) {
  const std::string rows = trade_rows(settings.rows, false);
  const auto trades = trades_of(rows);
  const auto format = formats::avro();
  const std::size_t bytes = bytes_of(blocks_of(trades, *format));
  const auto encoder = format->make_encoder(formats::shape_of<Trade>());
  if (!encoder->open().ok()) std::abort();
  std::string text;
  for (const Trade& trade : trades) encoder->encode(&trade, text);
  const char schema_text[] =
      R"({"type":"record","name":"Trade","fields":[{"name":"id","type":"long"},
      {"name":"time","type":"long"},{"name":"symbol","type":"string"},{"name":"price","type":"double"},
      {"name":"size","type":"int"},{"name":"venue","type":"string"},{"name":"bid","type":"double"},
      {"name":"ask","type":"double"},{"name":"note","type":"string"}]})";
  avro_schema_t schema = nullptr;
  avro_schema_error_t error = nullptr;
  if (avro_schema_from_json(schema_text, sizeof schema_text - 1, &schema, &error) != 0)
    std::abort();
  avro_value_iface_t* const type = avro_generic_class_from_schema(schema);
  avro_value_t value;
  avro_generic_value_new(type, &value);
  std::vector<double> times;
  Totals totals;
  std::vector<Trade> batch(default_batch_records);
  for (int run = 0; run <= settings.runs; ++run) {
    avro_reader_t reader = avro_reader_memory(text.data(), static_cast<std::int64_t>(text.size()));
    const double took = processor_seconds([&] {
      for (std::size_t i = 0; i < trades.size(); ++i) {
        if (avro_value_read(reader, &value) != 0) std::abort();
        Trade& trade = batch[i % default_batch_records];
        avro_value_t field;
        const char* part = nullptr;
        std::size_t size = 0;
        const auto get = [&](std::size_t index) {
          avro_value_get_by_index(&value, index, &field, nullptr);
          return &field;
        };
        const auto get_text = [&](std::size_t index) {
          avro_value_get_string(get(index), &part, &size);
          return std::string_view(part, size - 1);
        };
        avro_value_get_long(get(0), &trade.id);
        avro_value_get_long(get(1), &trade.time);
        trade.symbol = get_text(2);
        avro_value_get_double(get(3), &trade.price);
        avro_value_get_int(get(4), &trade.size);
        trade.venue = get_text(5);
        avro_value_get_double(get(6), &trade.bid);
        avro_value_get_double(get(7), &trade.ask);
        trade.note = get_text(8);
        if (run == 0) totals.add(trade);
      }
    });
    avro_reader_free(reader);
    if (run > 0) times.push_back(took);
  }
  report("libavro", bytes, times, totals);
  return 0;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv);
  const std::string what = settings.words.empty() ? "" : settings.words[0];
  if (what == "avro") return decode(settings, what, *formats::avro());
  if (what == "protobuf") return decode(settings, what, *formats::protobuf());
  if (what == "write_avro") return encode(settings, what, *formats::avro());
  if (what == "write_protobuf") return encode(settings, what, *formats::protobuf());
  if (what == "generated") return generated(settings);
#ifdef HUMMER_BENCH_LIBAVRO
  if (what == "libavro") return libavro(settings);
#endif
  std::cerr
      << "usage: decode_binary_rows avro|libavro|protobuf|generated|write_avro|write_protobuf "
         "[--rows N] [--runs N]\n";
  return 2;
}
