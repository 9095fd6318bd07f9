// What jobs make of the records of workload.hpp: aggregates, and the results of joins.
#pragma once

#include "workload.hpp"

namespace stateful {

struct Usage {
  std::uint64_t sum;
  std::uint64_t count;
};
// In whole millionths.
struct MeanUsage {
  using Accumulator = Usage;
  using Result = std::uint64_t;
  void add(Accumulator& usage, bool, const TaskEvent& event) const {
    usage.sum += event.cpu;
    ++usage.count;
  }
  void merge(Accumulator& usage, bool, const Accumulator& other) const {
    usage.sum += other.sum;
    usage.count += other.count;
  }
  Result result(const Accumulator& usage) const { return usage.sum / usage.count; }
};

inline Sale sale_of_auction(const Person& person, const Auction& auction) {
  return {person.id, first_letters(person.name), auction.id, auction.reserve_cents};
}
inline Sale sale_of_bid(const Person& person, const Bid& bid) {
  return {person.id, first_letters(person.name), bid.auction, bid.price_cents};
}

}  // namespace stateful
