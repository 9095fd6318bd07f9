// tpch_tables FOLDER SCALE SEED: customer.tbl, orders.tbl and lineitem.tbl with the columns, the
// sizes and about the values of TPC-H's dbgen, from a seed: 150,000 × SCALE customers, ten orders
// for each (those whose key is a multiple of three have none), one to seven line items in an order.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t flush_bytes = std::size_t{1} << 20;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t drawn = state_;
    drawn = (drawn ^ drawn >> 30) * 0xBF58476D1CE4E5B9u;
    drawn = (drawn ^ drawn >> 27) * 0x94D049BB133111EBu;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(drawn ^ drawn >> 31) * bound) >> 64);
  }
  template <std::size_t count>
  std::string_view of(const std::array<std::string_view, count>& words) {
    return words[below(count)];
  }

 private:
  std::uint64_t state_;
};

class Table {
 public:
  explicit Table(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) fail(path);
  }
  ~Table() {
    flush();
    if (std::fclose(file_) != 0) fail("closing a table");
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Table& text(std::string_view value) {
    row_.append(value).push_back('|');
    return *this;
  }
  Table& number(std::uint64_t value, std::size_t digits = 1) {
    pad(value, digits);
    row_.push_back('|');
    return *this;
  }
  Table& hundredths(std::uint64_t value) {
    pad(value / 100, 1);
    row_.push_back('.');
    return number(value % 100, 2);
  }
  void end_row() {
    row_.push_back('\n');
    if (row_.size() >= flush_bytes) flush();
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    std::perror(("tpch_tables: " + what).c_str());
    std::exit(1);
  }
  void pad(std::uint64_t value, std::size_t digits) {
    char space[24];
    const auto end = std::to_chars(space, space + sizeof space, value).ptr;
    const auto length = static_cast<std::size_t>(end - space);
    row_.append(digits > length ? digits - length : 0, '0').append(space, length);
  }
  void flush() {
    if (std::fwrite(row_.data(), 1, row_.size(), file_) != row_.size()) fail("writing a table");
    row_.clear();
  }
  std::FILE* file_;
  std::string row_;
};

constexpr std::array<std::string_view, 5> segments = {"AUTOMOBILE", "BUILDING", "FURNITURE",
                                                      "HOUSEHOLD", "MACHINERY"};
constexpr std::array<std::string_view, 5> priorities = {"1-URGENT", "2-HIGH", "3-MEDIUM",
                                                        "4-NOT SPECIFIED", "5-LOW"};
constexpr std::array<std::string_view, 7> modes = {"AIR",     "FOB",  "MAIL", "RAIL",
                                                   "REG AIR", "SHIP", "TRUCK"};
constexpr std::array<std::string_view, 4> instructions = {"COLLECT COD", "DELIVER IN PERSON",
                                                          "NONE", "TAKE BACK RETURN"};
constexpr std::array<std::string_view, 12> words = {
    "carefully", "deposits", "express", "final",    "furiously", "ideas",
    "pending",   "quickly",  "regular", "requests", "sleep",     "theodolites"};

std::string comment(Draw& draw, std::size_t least, std::size_t most) {
  const std::size_t length = least + draw.below(most - least + 1);
  std::string text;
  while (text.size() < length) text.append(draw.of(words)).push_back(' ');
  text.resize(length);
  return text;
}

// Days behind 1992-01-01, in seven years.
std::string date(std::uint64_t day) {
  constexpr std::array<unsigned, 12> lengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  unsigned year = 1992;
  for (;; ++year) {
    const unsigned days = year % 4 == 0 ? 366 : 365;
    if (day < days) break;
    day -= days;
  }
  unsigned month = 0;
  for (; month < 12; ++month) {
    const unsigned days = lengths[month] + (month == 1 && year % 4 == 0 ? 1 : 0);
    if (day < days) break;
    day -= days;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%04u-%02u-%02u", year, month + 1,
                static_cast<unsigned>(day) + 1);
  return text;
}

constexpr std::uint64_t order_days = 2405;

void write_customers(const std::string& folder, std::uint64_t count, Draw draw) {
  Table table(folder + "/customer.tbl");
  for (std::uint64_t key = 1; key <= count; ++key) {
    table.number(key).text("Customer#" + std::to_string(key)).text(comment(draw, 10, 40));
    table.number(draw.below(25)).text("10-" + std::to_string(1'000'000 + draw.below(9'000'000)));
    table.hundredths(draw.below(1'000'000)).text(draw.of(segments)).text(comment(draw, 29, 116));
    table.end_row();
  }
}

void write_orders(const std::string& folder, std::uint64_t customers, Draw draw) {
  Table orders(folder + "/orders.tbl");
  Table items(folder + "/lineitem.tbl");
  for (std::uint64_t i = 0; i < 10 * customers; ++i) {
    const std::uint64_t key = i / 8 * 32 + i % 8 + 1;  // they are sparse
    std::uint64_t customer = 1 + draw.below(customers);
    if (customer % 3 == 0) --customer;
    const std::uint64_t day = draw.below(order_days);
    orders.number(key).number(std::max<std::uint64_t>(customer, 1)).text("O");
    orders.hundredths(draw.below(50'000'000)).text(date(day)).text(draw.of(priorities));
    orders.text("Clerk#" + std::to_string(draw.below(1000))).number(0);
    orders.text(comment(draw, 19, 78)).end_row();
    const std::uint64_t count = 1 + draw.below(7);
    for (std::uint64_t line = 1; line <= count; ++line) {
      const std::uint64_t shipped = day + 1 + draw.below(121);
      items.number(key).number(1 + draw.below(200'000)).number(1 + draw.below(10'000));
      items.number(line).number(1 + draw.below(50)).hundredths(90'000 + draw.below(10'000'000));
      items.hundredths(draw.below(11)).hundredths(draw.below(9));
      items.text(std::string(1, "NAR"[draw.below(3)])).text(std::string(1, "OF"[draw.below(2)]));
      items.text(date(shipped)).text(date(day + 30 + draw.below(61)));
      items.text(date(shipped + 1 + draw.below(30))).text(draw.of(instructions));
      items.text(draw.of(modes)).text(comment(draw, 10, 43)).end_row();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: tpch_tables FOLDER SCALE SEED\n", stderr);
    return 2;
  }
  const auto customers = static_cast<std::uint64_t>(150'000 * std::strtod(argv[2], nullptr));
  const std::uint64_t seed = std::strtoull(argv[3], nullptr, 10);
  if (customers == 0) {
    std::fputs("tpch_tables: SCALE is too small: there is no customer\n", stderr);
    return 2;
  }
  write_customers(argv[1], customers, Draw(seed));
  write_orders(argv[1], customers, Draw(~seed));
  return 0;
}
