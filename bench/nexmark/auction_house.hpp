// The auction house: persons, auctions and bids as in NEXMark (Tucker, Tufte, Papadimos, Maier
// 2002), each made from its index alone, so that the job's source and the program that writes the
// same rows for another engine cannot differ.
//
// Of each 50 events one is a person, three are auctions, 46 are bids. Event time goes on by a
// millisecond every ten events; each event's own time is up to disorder_ms behind that of
// its neighbours. Prices are in cents. All values are integers: results can be compared exactly.
#pragma once

#include <cstdint>

namespace nexmark {

inline constexpr std::int64_t disorder_ms = 10'000;
inline constexpr std::uint64_t events_per_ms = 10;
inline constexpr std::uint64_t events_per_group = 50;
inline constexpr std::uint64_t auctions_per_group = 3;
inline constexpr std::uint64_t bids_per_group = 46;
// How many of the newest auctions and persons are active.
inline constexpr std::uint64_t active_auctions = 2'000;
inline constexpr std::uint64_t active_persons = 5'000;

struct Person {
  std::uint64_t id;
  std::uint64_t city;
  std::int64_t time_ms;
};
struct Auction {
  std::uint64_t id;
  std::uint64_t seller;
  std::uint64_t category;
  std::int64_t reserve_cents;
  std::int64_t time_ms;
};
struct Bid {
  std::uint64_t id;
  std::uint64_t auction;
  std::uint64_t bidder;
  std::uint64_t channel;
  std::int64_t price_cents;
  std::int64_t time_ms;
};

// As good as random, the same for the same seed, index and purpose.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t event) : state_(mixed(seed ^ mixed(event + 1))) {}
  // In [0, bound).
  std::uint64_t below(std::uint64_t bound) {
    state_ = mixed(state_ + 0x9E3779B97F4A7C15u);
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(state_) * bound) >> 64);
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBu;
    return x ^ x >> 31;
  }
  std::uint64_t state_;
};

class AuctionHouse {
 public:
  explicit AuctionHouse(std::uint64_t seed = 1) : seed_(seed) {}

  static constexpr std::uint64_t persons_of(std::uint64_t events) {
    return events / events_per_group;
  }
  static constexpr std::uint64_t auctions_of(std::uint64_t events) {
    return events / events_per_group * auctions_per_group;
  }
  static constexpr std::uint64_t bids_of(std::uint64_t events) {
    return events / events_per_group * bids_per_group;
  }

  Person person(std::uint64_t index) const {
    const std::uint64_t event = index * events_per_group;
    Draw draw(seed_, event);
    const std::int64_t time_ms = time_of(event, draw);
    return {index, draw.below(1'000), time_ms};
  }
  Auction auction(std::uint64_t index) const {
    const std::uint64_t event =
        index / auctions_per_group * events_per_group + 1 + index % auctions_per_group;
    Draw draw(seed_, event);
    const std::int64_t time_ms = time_of(event, draw);
    const std::uint64_t seller = newest(event / events_per_group, active_persons, draw);
    return {index, seller, 10 + draw.below(5), static_cast<std::int64_t>(draw.below(100'000)),
            time_ms};
  }
  Bid bid(std::uint64_t index) const {
    const std::uint64_t event =
        index / bids_per_group * events_per_group + 1 + auctions_per_group + index % bids_per_group;
    Draw draw(seed_, event);
    const std::int64_t time_ms = time_of(event, draw);
    const std::uint64_t group = event / events_per_group;
    const std::uint64_t auction = newest(group * auctions_per_group, active_auctions, draw);
    const std::uint64_t bidder = newest(group, active_persons, draw);
    const auto price = static_cast<std::int64_t>(100 + draw.below(1'000'000));
    return {index, auction, bidder, draw.below(1'000), price, time_ms};
  }

 private:
  // Half of the draws go to a hundredth of the active ones.
  static std::uint64_t newest(std::uint64_t last, std::uint64_t active, Draw& draw) {
    const std::uint64_t among = draw.below(2) == 0 ? active / 100 : active;
    return last - draw.below(among < last + 1 ? among : last + 1);
  }
  static std::int64_t time_of(std::uint64_t event, Draw& draw) {
    return static_cast<std::int64_t>(event / events_per_ms + draw.below(disorder_ms));
  }

  std::uint64_t seed_;
};

}  // namespace nexmark
