// nexmark_queries: one query over the auction house through the public API, as text to --output.
//
//   --query  tumbling       per auction and 10 s: bids, sum and largest of their prices
//            sliding        per channel and 10 s, every second: bids and the sum of their prices
//            session        per bidder, bids less than 2 s apart: how many
//            window_join    new persons and the auctions that they open in the same 10 s
//            interval_join  auctions and the high bids on them up to 20 s later
//            top_n          the three highest bids per channel and 10 s
//            dedup          pairs of bidder and quarter of the channels
//
// Records are out of order within 10 s. bench/acceptance/exactly-once/01-duckdb compares with SQL.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <hummer/hummer.hpp>

#include "auction_house.hpp"

namespace {

using hummer::DataStream;
using hummer::StreamExecutionEnvironment;
using nexmark::Auction;
using nexmark::AuctionHouse;
using nexmark::Bid;
using nexmark::Person;

constexpr std::int64_t high_price_cents = 900'000;

class Streams {
 public:
  Streams(StreamExecutionEnvironment& env, std::uint64_t events, std::uint64_t seed)
      : env_(env), events_(events), house_(seed) {}

  DataStream<Person> persons() {
    return env_.generate(
        hummer::rebuildable([house = house_](std::uint64_t i) { return house.person(i); }),
        options(AuctionHouse::persons_of(events_)),
        hummer::rebuildable([house = house_](std::uint64_t i) { return house.person(i).time_ms; }));
  }
  DataStream<Auction> auctions() {
    return env_.generate(
        hummer::rebuildable([house = house_](std::uint64_t i) { return house.auction(i); }),
        options(AuctionHouse::auctions_of(events_)),
        hummer::rebuildable(
            [house = house_](std::uint64_t i) { return house.auction(i).time_ms; }));
  }
  DataStream<Bid> bids() {
    return env_.generate(
        hummer::rebuildable([house = house_](std::uint64_t i) { return house.bid(i); }),
        options(AuctionHouse::bids_of(events_)),
        hummer::rebuildable([house = house_](std::uint64_t i) { return house.bid(i).time_ms; }));
  }

 private:
  static hummer::GeneratorOptions options(std::uint64_t count) {
    return {.count = count, .watermark_interval = 512, .out_of_order_ms = nexmark::disorder_ms};
  }
  StreamExecutionEnvironment& env_;
  std::uint64_t events_;
  AuctionHouse house_;
};

struct Prices {
  std::uint64_t bids;
  std::int64_t sum_cents;
  std::int64_t largest_cents;
};
struct PricesAggregate {
  using Accumulator = Prices;
  using Result = Prices;
  void add(Accumulator& all, bool is_new, const Bid& bid) const {
    merge(all, is_new, {1, bid.price_cents, bid.price_cents});
  }
  void merge(Accumulator& all, bool is_new, const Accumulator& other) const {
    if (is_new) {
      all = other;
      return;
    }
    all.bids += other.bids;
    all.sum_cents += other.sum_cents;
    all.largest_cents = std::max(all.largest_cents, other.largest_cents);
  }
  Result result(const Accumulator& all) const { return all; }
};
// One line of numbers with tabs, also inside of a Windowed.
void format_record(const Prices& prices, std::string& out) {
  hummer::format_record(std::tuple(prices.bids, prices.sum_cents, prices.largest_cents), out);
}

void build(std::string_view query, Streams streams, const std::string& output) {
  using hummer::SessionWindows;
  using hummer::SlidingWindows;
  using hummer::TumblingWindows;
  constexpr std::int64_t window_ms = 10'000;
  if (query == "tumbling") {
    streams.bids()
        .key_by(&Bid::auction)
        .window(TumblingWindows::of(window_ms))
        .aggregate(PricesAggregate())
        .write_file(output);
  } else if (query == "sliding") {
    streams.bids()
        .key_by(&Bid::channel)
        .window(SlidingWindows::of(window_ms, 1'000))
        .aggregate(PricesAggregate())
        .write_file(output);
  } else if (query == "session") {
    streams.bids()
        .key_by(&Bid::bidder)
        .window(SessionWindows::with_gap(2'000))
        .count()
        .write_file(output);
  } else if (query == "window_join") {
    streams.persons()
        .key_by(&Person::id)
        .join(streams.auctions().key_by(&Auction::seller))
        .window(TumblingWindows::of(window_ms))
        .apply([](const Person& person, const Auction& auction) {
          return std::tuple(person.id, person.city, auction.id, auction.reserve_cents);
        })
        .write_file(output);
  } else if (query == "interval_join") {
    streams.auctions()
        .key_by(&Auction::id)
        .interval_join(
            streams.bids()
                .filter([](const Bid& bid) { return bid.price_cents >= high_price_cents; })
                .key_by(&Bid::auction))
        .between(0, 20'000)
        .apply([](const Auction& auction, const Bid& bid) {
          return std::tuple(auction.id, auction.category, bid.id, bid.price_cents,
                            bid.time_ms - auction.time_ms);
        })
        .write_file(output);
  } else if (query == "top_n") {
    streams.bids()
        .key_by(&Bid::channel)
        .top_n(
            3, [](const Bid& bid) { return std::pair(bid.price_cents, bid.id); }, window_ms)
        .map([](const hummer::Ranked<Bid>& ranked) {
          return std::tuple(ranked.record.channel, ranked.window_start, ranked.rank,
                            ranked.record.id, ranked.record.price_cents);
        })
        .write_file(output);
  } else if (query == "dedup") {
    streams.bids()
        .map([](const Bid& bid) { return std::pair(bid.bidder, bid.channel / 250); })
        .key_by(hummer::identity)
        .deduplicate()
        .write_file(output);
  } else {
    throw std::invalid_argument("no such query");
  }
}

}  // namespace

void nexmark_job(StreamExecutionEnvironment& env) {
  const std::string query = env.argument("query", "see the head of nexmark_queries.cpp");
  const std::uint64_t events = std::stoull(env.argument_or("events", "10000000"));
  const std::uint64_t seed = std::stoull(env.argument_or("seed", "1"));
  build(query, Streams(env, events, seed), env.argument("output", "where the results go"));
  env.execute("nexmark " + query);
}

HUMMER_JOB(nexmark_job)
