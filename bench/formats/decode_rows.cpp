// decode_rows WHAT [--rows N] [--runs N]: how fast rows become records on one core, from memory.
//
//   csv       Hummer's decoder, in blocks of 64 KiB as the file source hands them on
//   json      the same for JSON lines
//   simdjson  the library's own loop over the same JSON: iterate_many, fields in their order;
//   without
//             its second thread
//   job FILE  from_csv of a file, and all fields folded; one slot
//   write FILE csv|json   the rows
//
// Prints one line of JSON: the median of the runs, and the totals that all must agree on.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <hummer/formats/csv.hpp>
#include <hummer/hummer.hpp>

#include "formats/row_timing.hpp"
#include "formats/trade_rows.hpp"
#ifdef HUMMER_WITH_JSON
#include <simdjson.h>

#include <hummer/formats/json.hpp>
#endif

namespace {

using namespace hummer;

constexpr std::size_t block_bytes = 64 << 10;

// Ends of blocks of whole lines.
std::vector<std::size_t> blocks_of(const std::string& text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t most = std::min(at + block_bytes, text.size());
    at = text.rfind('\n', most - 1) + 1;
    ends.push_back(at);
  }
  return ends;
}

int decode(const Settings& settings, const std::string& what, bool json,
           const std::shared_ptr<const formats::Format>& format) {
  std::string text = trade_rows(settings.rows, json);
  text.reserve(text.size() + read_slack_bytes);
  const std::vector<std::size_t> ends = blocks_of(text);
  const auto decoder = format->make_decoder(formats::shape_of<Trade>());
  const std::string origin = "rows";
  std::vector<double> times;
  Totals totals;
  std::size_t decoded = 0;
  for (int run = 0; run <= settings.runs; ++run) {
    Batch batch(type_of<Trade>(), default_batch_records);
    const double took = processor_seconds([&] {
      std::size_t begin = 0;
      for (const std::size_t end : ends) {
        const TextBlock block{text.data() + begin, end - begin, begin, &origin};
        std::size_t at = 0;
        if (!decoder->begin(block, at).ok()) std::abort();
        auto outcome = formats::Decoder::Outcome::full;
        while (outcome == formats::Decoder::Outcome::full) {
          batch.clear();
          outcome = decoder->decode(block.view(), at, batch, default_batch_records);
          // The first run is for the totals, and to warm up.
          if (run == 0) {
            for (const Trade& trade : batch.values<Trade>()) totals.add(trade);
          } else {
            decoded += batch.size();
          }
        }
        if (outcome != formats::Decoder::Outcome::done) {
          std::cerr << decoder->why() << '\n';
          std::exit(1);
        }
        begin = end;
      }
    });
    if (run > 0) times.push_back(took);
  }
  if (decoded != static_cast<std::size_t>(totals.rows) * times.size()) std::abort();
  report(what, text.size(), times, totals);
  return 0;
}

#ifdef HUMMER_WITH_JSON
int own_loop(const Settings& settings) {
  const simdjson::padded_string text(trade_rows(settings.rows, true));
  simdjson::ondemand::parser parser;
  parser.threaded = false;  // on one core
  std::vector<double> times;
  Totals totals;
  std::vector<Trade> batch(default_batch_records);
  for (int run = 0; run <= settings.runs; ++run) {
    totals = {};
    const double took = processor_seconds([&] {
      simdjson::ondemand::document_stream documents = parser.iterate_many(text, 1 << 20);
      std::size_t i = 0;
      for (auto document : documents) {
        Trade& trade = batch[i++ % default_batch_records];
        simdjson::ondemand::object object = document.get_object();
        trade.id = object["id"].get_int64();
        trade.time = object["time"].get_int64();
        trade.symbol = object["symbol"].get_string();
        trade.price = object["price"].get_double();
        trade.size = static_cast<std::int32_t>(object["size"].get_int64().value());
        trade.venue = object["venue"].get_string();
        trade.bid = object["bid"].get_double();
        trade.ask = object["ask"].get_double();
        trade.note = object["note"].get_string();
        if (run == settings.runs) {
          totals.add(trade);
        } else {
          ++totals.rows;
        }
      }
    });
    // The first one warms up, the last one folds.
    if (run != 0 && run != settings.runs) times.push_back(took);
  }
  report("simdjson", text.size(), times, totals);
  return 0;
}
#endif

int job(const Settings& settings) {
  std::vector<double> times;
  Totals totals;
  std::size_t bytes = 0;
  for (int run = 0; run < settings.runs; ++run) {
    totals = {};
    EnvironmentOptions options;
    options.parallelism = 1;
    StreamExecutionEnvironment env(options);
    formats::from_csv<Trade>(env, settings.words[1]).for_each([&totals](const Trade& trade) {
      totals.add(trade);
    });
    JobResult result;
    times.push_back(seconds([&] { result = env.execute("fold rows"); }));
    if (!result.ok()) {
      std::cerr << result.status.to_string() << '\n';
      return 1;
    }
    std::ifstream file(settings.words[1], std::ios::ate | std::ios::binary);
    bytes = static_cast<std::size_t>(file.tellg());
  }
  report("job", bytes, times, totals);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv);
  const std::string what = settings.words.empty() ? "" : settings.words[0];
  if (what == "csv") return decode(settings, what, false, formats::csv());
#ifdef HUMMER_WITH_JSON
  if (what == "json") return decode(settings, what, true, formats::json());
  if (what == "simdjson") return own_loop(settings);
#endif
  if (what == "job" && settings.words.size() == 2) return job(settings);
  if (what == "write" && settings.words.size() == 3) {
    std::ofstream(settings.words[1], std::ios::binary)
        << trade_rows(settings.rows, settings.words[2] == "json");
    return 0;
  }
  std::cerr << "usage: decode_rows csv|json|simdjson|job FILE|write FILE csv|json [--rows N] "
               "[--runs N]\n";
  return 2;
}
