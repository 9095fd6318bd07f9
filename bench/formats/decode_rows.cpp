// decode_rows WHAT [--rows N] [--runs N]: how fast rows become records on one core, from memory.
//
//   csv       Hummer's decoder, in blocks of 64 KiB as the file source hands them on
//   json      the same for JSON lines
//   simdjson  the library's own loop over the same JSON: iterate_many, fields in their order,
//             without its second thread
//   pattern   a web server's log by a pattern of seven groups
//   re2       RE2's match of the same lines with as many groups, and their numbers
//   gzip zlib|isal FILE   a file decompressed as the file source does it, by one library
//   job FILE  from_csv of a file, and all fields folded; one slot
//   write FILE csv|json   the rows
//
// Prints one line of JSON: the median of the runs, and the totals that all must agree on.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <hummer/formats/csv.hpp>
#include <hummer/hummer.hpp>

#include "connectors/file/gzip_decompressor.hpp"
#include "formats/log_lines.hpp"
#include "formats/row_timing.hpp"
#include "formats/trade_rows.hpp"
#ifdef HUMMER_WITH_JSON
#include <simdjson.h>

#include <hummer/formats/json.hpp>
#endif
#ifdef HUMMER_WITH_PATTERNS
#include <re2/re2.h>

#include <hummer/formats/pattern.hpp>
#endif

namespace {

using namespace hummer;

#ifdef HUMMER_WITH_PATTERNS
constexpr const char* log_expression =
    R"re((?P<host>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<method>[A-Z]+) (?P<path>[^ "]*) [^"]*" )re"
    R"re((?P<status>\d{3}) (?P<size>\d+) "[^"]*" "(?P<agent>[^"]*)")re";
#endif

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

template <typename Record, typename Sum>
int decode(const Settings& settings, const std::string& what, std::string text,
           const std::shared_ptr<const formats::Format>& format) {
  text.reserve(text.size() + read_slack_bytes);
  const std::vector<std::size_t> ends = blocks_of(text);
  const auto decoder = format->make_decoder(formats::shape_of<Record>());
  const std::string origin = "rows";
  std::vector<double> times;
  Sum totals;
  std::size_t decoded = 0;
  for (int run = 0; run <= settings.runs; ++run) {
    Batch batch(type_of<Record>(), default_batch_records);
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
            for (const Record& record : batch.values<Record>()) totals.add(record);
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
  report(what, text.size(), times, totals.rows, totals.to_string());
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
  // The first one warms up, the last one folds.
  const int last = settings.runs + 1;
  for (int run = 0; run <= last; ++run) {
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
        if (run == last) {
          totals.add(trade);
        } else {
          ++totals.rows;
        }
      }
    });
    if (run != 0 && run != last) times.push_back(took);
  }
  report("simdjson", text.size(), times, totals.rows, totals.to_string());
  return 0;
}
#endif

#ifdef HUMMER_WITH_PATTERNS
// What a program of its own would do: the same expression, as many groups, numbers converted.
int own_matches(const Settings& settings) {
  const std::string text = log_lines(settings.rows);
  re2::RE2::Options options(re2::RE2::Latin1);
  const re2::RE2 expression(log_expression, options);
  std::array<re2::StringPiece, 8> groups;
  std::vector<double> times;
  HitTotals totals;
  HitTotals sum_of_first;
  std::vector<Hit> batch(default_batch_records);
  for (int run = 0; run <= settings.runs; ++run) {
    totals = {};
    const double took = processor_seconds([&] {
      std::size_t i = 0;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const re2::StringPiece line(text.data() + at, end - at);
        if (!expression.Match(line, 0, line.size(), re2::RE2::ANCHOR_BOTH, groups.data(),
                              static_cast<int>(groups.size()))) {
          std::abort();
        }
        Hit& hit = batch[i++ % default_batch_records];
        const auto view = [&](std::size_t group) {
          return std::string_view(groups[group].data(), groups[group].size());
        };
        hit.host = view(1);
        hit.time = view(2);
        hit.method = view(3);
        hit.path = view(4);
        std::from_chars(view(5).data(), view(5).data() + view(5).size(), hit.status);
        std::from_chars(view(6).data(), view(6).data() + view(6).size(), hit.size);
        hit.agent = view(7);
        if (run == 0) totals.add(hit);
        at = end + 1;
      }
    });
    if (run == 0) sum_of_first = totals;
    if (run != 0) times.push_back(took);
  }
  report("re2", text.size(), times, sum_of_first.rows, sum_of_first.to_string());
  return 0;
}
#endif

// A file in the page cache, as the file source decompresses it; what it came to is a sum of bytes.
int decompress(const Settings& settings) {
  const bool isal = settings.words[1] == "isal";
  std::ifstream file(settings.words[2], std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<double> times;
  std::string space(block_bytes, ' ');
  std::size_t bytes = 0;
  std::uint64_t sum = 0;
  for (int run = 0; run <= settings.runs; ++run) {
    const auto decompressor =
        isal ? make_isal_decompressor("file") : make_zlib_decompressor("file");
    if (decompressor == nullptr) {
      std::cerr << "libisal2 is not installed\n";
      return 77;
    }
    bytes = 0;
    const double took = processor_seconds([&] {
      for (std::span<const char> input(packed);;) {
        const auto step =
            decompressor->run(input.first(std::min(input.size(), block_bytes)), space);
        if (!step.ok()) std::abort();
        input = input.subspan(step->consumed);
        bytes += step->produced;
        if (run == 0) {
          for (const char c : std::string_view(space).substr(0, step->produced)) {
            sum = sum * 31 + static_cast<unsigned char>(c);
          }
        }
        if (step->consumed == 0 && step->produced == 0) break;
      }
    });
    if (!decompressor->finish().ok()) std::abort();
    if (run != 0) times.push_back(took);
  }
  report("gzip " + settings.words[1], bytes, times, 1, std::to_string(sum));
  return 0;
}

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
  report("job", bytes, times, totals.rows, totals.to_string());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv);
  const std::string what = settings.words.empty() ? "" : settings.words[0];
  const auto rows = [&](bool json) { return trade_rows(settings.rows, json); };
  if (what == "csv") return decode<Trade, Totals>(settings, what, rows(false), formats::csv());
#ifdef HUMMER_WITH_JSON
  if (what == "json") return decode<Trade, Totals>(settings, what, rows(true), formats::json());
  if (what == "simdjson") return own_loop(settings);
#endif
#ifdef HUMMER_WITH_PATTERNS
  if (what == "pattern") {
    return decode<Hit, HitTotals>(settings, what, log_lines(settings.rows),
                                  formats::pattern(log_expression));
  }
  if (what == "re2") return own_matches(settings);
#endif
  if (what == "gzip" && settings.words.size() == 3) return decompress(settings);
  if (what == "job" && settings.words.size() == 2) return job(settings);
  if (what == "write" && settings.words.size() == 3) {
    std::ofstream(settings.words[1], std::ios::binary)
        << trade_rows(settings.rows, settings.words[2] == "json");
    return 0;
  }
  std::cerr
      << "usage: decode_rows csv|json|simdjson|pattern|re2|gzip zlib|isal FILE|job FILE|write FILE "
         "csv|json [--rows N] [--runs N]\n";
  return 2;
}
