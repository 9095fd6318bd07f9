// The rows of bench/formats: trades of about 100 bytes as CSV, the same as JSON lines; from a seed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

struct Trade {
  std::int64_t id = 0;
  std::int64_t time = 0;
  std::string_view symbol;
  double price = 0;
  std::int32_t size = 0;
  std::string_view venue;
  double bid = 0;
  double ask = 0;
  std::string_view note;
};

inline constexpr std::uint64_t rows_seed = 7;

inline std::string trade_rows(std::size_t rows, bool json) {
  std::mt19937_64 random(rows_seed);
  std::string text;
  if (!json) text = "id,time,symbol,price,size,venue,bid,ask,note\n";
  const char* const form =
      json ? "{\"id\":%ld,\"time\":%ld,\"symbol\":\"SYM%03d\",\"price\":%.2f,\"size\":%d,"
             "\"venue\":\"%s\",\"bid\":%.4f,\"ask\":%.4f,\"note\":\"filled for account %06d\"}\n"
           : "%ld,%ld,SYM%03d,%.2f,%d,%s,%.4f,%.4f,filled for account %06d\n";
  static constexpr const char* venues[] = {"XNAS", "XNYS", "ARCX", "BATS"};
  for (std::size_t i = 0; i < rows; ++i) {
    char line[320];
    const auto draw = [&](std::uint64_t below) { return random() % below; };
    const long time = 1'700'000'000'000 + static_cast<long>(i) * 13 + static_cast<long>(draw(13));
    const int symbol = static_cast<int>(draw(500));
    const double price = static_cast<double>(draw(1'000'000)) / 100;
    const int size = static_cast<int>(draw(10'000));
    const char* const venue = venues[draw(4)];
    const double bid = static_cast<double>(draw(10'000'000)) / 10'000;
    const double ask = static_cast<double>(draw(10'000'000)) / 10'000;
    const int account = static_cast<int>(draw(1'000'000));
    const int size_bytes = std::snprintf(line, sizeof line, form, 10'000'000 + static_cast<long>(i),
                                         time, symbol, price, size, venue, bid, ask, account);
    text.append(line, static_cast<std::size_t>(size_bytes));
  }
  return text;
}

// What everybody must come to, whole numbers, in any order of rows.
struct Totals {
  std::int64_t rows = 0;
  std::int64_t ids = 0;
  std::int64_t times = 0;
  std::int64_t sizes = 0;
  std::int64_t cents = 0;  // of prices
  std::int64_t parts = 0;  // of bids and asks, in ten-thousandths
  std::int64_t text = 0;   // bytes of it

  void add(const Trade& trade) {
    ++rows;
    ids += trade.id;
    times += trade.time % 1'000'000;
    sizes += trade.size;
    cents += static_cast<std::int64_t>(trade.price * 100 + 0.5);
    parts += static_cast<std::int64_t>(trade.bid * 10'000 + 0.5) +
             static_cast<std::int64_t>(trade.ask * 10'000 + 0.5);
    text += static_cast<std::int64_t>(trade.symbol.size() + trade.venue.size() + trade.note.size());
  }
  std::string to_string() const {
    std::string all;
    for (const std::int64_t each : {rows, ids, times, sizes, cents, parts, text}) {
      all += (all.empty() ? "" : ":") + std::to_string(each);
    }
    return all;
  }
};
