// The rows that join persons with auctions or bids.
#include "functions.hpp"
#include "stateful_hummer.hpp"

namespace stateful {
namespace {

template <typename Record>
hummer::DataStream<Record> others(Job& job, const House& house) {
  return job.env.generate(
      [house](std::uint64_t index) {
        Record record;
        house.make(index, record);
        return record;
      },
      {.count = house.others_of(job.scale().records)},
      [house](std::uint64_t index) { return house.time_of_other(index); });
}
hummer::DataStream<Person> persons(Job& job, const House& house) {
  return job.env.generate(
      [house](std::uint64_t index) {
        Person person;
        house.make(index, person);
        return person;
      },
      {.count = house.persons_of(job.scale().records)},
      [house](std::uint64_t index) { return house.time_of_person(index); });
}

void sum_up_sales(const Job& job, const hummer::DataStream<Sale>& sales) {
  sum_up(job, sales, [](Checksum& sum, const Sale& sale) { sum.add(sale); });
}

struct Opened {
  std::uint64_t person;
  std::int64_t start_ms;
  std::uint64_t persons;
  std::uint64_t auctions;
  std::int64_t reserve_cents;
};

}  // namespace

// NEXMark 8: who registered and opened auctions in the same 12 hours.
void build_nexmark8(Job& job) {
  const House house(job.scale(), auctions_per_person);
  sum_up_sales(job, persons(job, house)
                        .key_by(&Person::id)
                        .join(others<Auction>(job, house).key_by(&Auction::seller))
                        .window(hummer::TumblingWindows::of(job.scale().window_ms))
                        .apply(sale_of_auction));
}

// NEXMark 11 as a join: persons, and what they bid in the session in which they registered.
void build_nexmark11(Job& job) {
  const House house(job.scale(), bids_per_person);
  sum_up_sales(job, persons(job, house)
                        .key_by(&Person::id)
                        .join(others<Bid>(job, house).key_by(&Bid::bidder))
                        .window(hummer::SessionWindows::with_gap(job.scale().window_ms))
                        .apply(sale_of_bid));
}

// Persons, and what they bid in the 20 seconds after.
void build_interval_join(Job& job) {
  const House house(job.scale(), bids_per_person);
  sum_up_sales(job, persons(job, house)
                        .key_by(&Person::id)
                        .interval_join(others<Bid>(job, house).key_by(&Bid::bidder))
                        .between(0, job.scale().window_ms)
                        .apply(sale_of_bid));
}

// Per person and window how many auctions, and the sum of their reserves.
void build_co_group(Job& job) {
  const House house(job.scale(), auctions_per_person);
  const auto opened =
      persons(job, house)
          .key_by(&Person::id)
          .co_group(others<Auction>(job, house).key_by(&Auction::seller))
          .window(hummer::TumblingWindows::of(job.scale().window_ms))
          .apply([](hummer::TimeWindow window, std::span<const Person> registered,
                    std::span<const Auction> auctions, hummer::KeyedOutput<Opened>& out) {
            std::int64_t cents = 0;
            for (const Auction& auction : auctions) cents += auction.reserve_cents;
            out.emit({out.key<std::uint64_t>(), window.start_ms, registered.size(), auctions.size(),
                      cents});
          });
  sum_up(job, opened, [](Checksum& sum, const Opened& one) {
    sum.add(one.person, one.start_ms, one.persons, one.auctions, one.reserve_cents);
  });
}

}  // namespace stateful
