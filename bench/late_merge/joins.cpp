// The workloads that join. Their records always travel to the owner of their key: joins have no
// partial form yet, and the window strategy changes nothing.
#include "late_merge_job.hpp"
#include "stateful/functions.hpp"

namespace late_merge {
namespace {

using stateful::House;
using stateful::Person;
using stateful::Sale;

// Auctions or bids per person.
constexpr std::uint64_t others_per_person = 4;

// With check_rows it also hashes all bytes of both sides, behind the exchange that they came by.
template <typename Other, auto sale_of>
struct MakeSale {
  bool check;
  hummer::Counter hash{pairs_hash_metric};
  Sale operator()(const Person& person, const Other& other) const {
    if (check) hash.add(stateful::mixed(hash_of_bytes(person)) ^ hash_of_bytes(other));
    return sale_of(person, other);
  }
};

template <typename Other, auto sale_of, typename Windows>
void build_join(Job& job, Windows windows) {
  const House house(job.scale(), others_per_person, job.salt);
  const std::uint64_t persons = house.persons_of(job.scale().records);
  const std::uint64_t others = house.others_of(job.scale().records);
  job.row.scale.records = persons + others;
  const auto mean = [&](double of_person, double of_other) {
    return (of_person + of_other * others_per_person) / (1 + others_per_person);
  };
  job.row_bytes = mean(row_bytes<Person>, row_bytes<Other>);
  job.exchanged_bytes = mean(sizeof(Person), sizeof(Other));
  const auto make_person = [house](std::uint64_t index) {
    Person person;
    house.make(index, person);
    return person;
  };
  const auto make_other = [house](std::uint64_t index) {
    Other other;
    house.make(index, other);
    return other;
  };
  const auto key_of = [](const Other& other) {
    if constexpr (std::is_same_v<Other, stateful::Bid>) {
      return other.bidder;
    } else {
      return other.seller;
    }
  };
  const auto sales =
      make_rows(job, persons, make_person,
                [house](std::uint64_t index) { return house.time_of_person(index); })
          .network(job.network)
          .key_by(&Person::id)
          .join(make_rows(job, others, make_other,
                          [house](std::uint64_t index) { return house.time_of_other(index); })
                    .network(job.network)
                    .key_by(key_of))
          .window(windows)
          .apply(hummer::rebuildable(MakeSale<Other, sale_of>{job.check_rows}, job.check_rows));
  sum_up(sales, job.begun_us, [](stateful::Checksum& sum, const Sale& sale) { sum.add(sale); });
}

}  // namespace

// NEXMark 8: sellers, and what they opened in the 12 hours in which they registered.
void build_nexmark8(Job& job) {
  build_join<stateful::Auction, &stateful::sale_of_auction>(job, job.tumbling());
}

// NEXMark 11 as a join: persons, and what they bid in the session in which they registered.
void build_nexmark11(Job& job) {
  build_join<stateful::Bid, &stateful::sale_of_bid>(
      job, hummer::SessionWindows::with_gap(job.scale().window_ms));
}

}  // namespace late_merge
