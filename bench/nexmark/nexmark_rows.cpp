// nexmark_rows KIND EVENTS SEED: the rows of the auction house as comma-separated text with a line
// of names on standard output, for an engine to compare with. KIND: persons, auctions or bids.
#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <string>

#include "auction_house.hpp"

namespace {

constexpr std::size_t flush_bytes = std::size_t{1} << 16;

class Rows {
 public:
  ~Rows() { flush(); }
  void line(const char* text) { text_ += text; }
  void add(std::initializer_list<std::int64_t> values) {
    char separator = 0;
    for (const std::int64_t value : values) {
      if (separator != 0) text_.push_back(separator);
      separator = ',';
      char digits[24];
      text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }
    text_.push_back('\n');
    if (text_.size() >= flush_bytes) flush();
  }

 private:
  void flush() {
    std::fwrite(text_.data(), 1, text_.size(), stdout);
    text_.clear();
  }
  std::string text_;
};

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: nexmark_rows persons|auctions|bids EVENTS SEED\n", stderr);
    return 2;
  }
  const std::string kind = argv[1];
  const std::uint64_t events = std::stoull(argv[2]);
  const nexmark::AuctionHouse house(std::stoull(argv[3]));
  Rows rows;
  if (kind == "persons") {
    rows.line("id,city,time_ms\n");
    for (std::uint64_t i = 0; i < house.persons_of(events); ++i) {
      const nexmark::Person one = house.person(i);
      rows.add({number(one.id), number(one.city), one.time_ms});
    }
  } else if (kind == "auctions") {
    rows.line("id,seller,category,reserve_cents,time_ms\n");
    for (std::uint64_t i = 0; i < house.auctions_of(events); ++i) {
      const nexmark::Auction one = house.auction(i);
      rows.add({number(one.id), number(one.seller), number(one.category), one.reserve_cents,
                one.time_ms});
    }
  } else if (kind == "bids") {
    rows.line("id,auction,bidder,channel,price_cents,time_ms\n");
    for (std::uint64_t i = 0; i < house.bids_of(events); ++i) {
      const nexmark::Bid one = house.bid(i);
      rows.add({number(one.id), number(one.auction), number(one.bidder), number(one.channel),
                one.price_cents, one.time_ms});
    }
  } else {
    std::fprintf(stderr, "nexmark_rows: no kind '%s'\n", kind.c_str());
    return 2;
  }
  return 0;
}
