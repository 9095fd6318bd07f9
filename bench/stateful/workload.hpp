// The input and the checksum of keyed state's rows, which jobs and bare loops share: each record is
// made from its index alone, with integers only, so that Java and SQL make the same ones
// (FlinkStateful.java and duckdb_stateful.py in peers/).
//
// Records have the fields and sizes of their benchmarks: NEXMark's person (206 bytes), auction
// (269) and bid (32), an advertisement event of the Yahoo streaming benchmark (78), a task event of
// Google's cluster trace (64), as the Slash paper (SIGMOD 2022) runs them. Text is filled with
// letters drawn once per record. Records are in the order of their times. A salt gives other rows;
// 0 is that of bench/stateful.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "keys.hpp"

namespace stateful {

// ---- records ----

template <std::size_t N>
void fill(std::array<char, N>& text, std::uint64_t word) {
  for (std::size_t at = 0; at < N; at += sizeof word) {
    std::memcpy(text.data() + at, &word, std::min(sizeof word, N - at));
  }
}
template <std::size_t N>
std::uint64_t first_letters(const std::array<char, N>& text) {
  static_assert(N >= sizeof(std::uint64_t));
  std::uint64_t word;
  std::memcpy(&word, text.data(), sizeof word);
  return word;
}

struct Person {
  std::uint64_t id;
  std::int64_t time_ms;
  std::array<char, 32> name;
  std::array<char, 48> email;
  std::array<char, 16> credit_card;
  std::array<char, 32> city;
  std::array<char, 2> state;
  std::array<char, 60> extra;
};
struct Auction {
  std::uint64_t id;
  std::uint64_t seller;
  std::int64_t time_ms;
  std::int64_t expires_ms;
  std::int64_t first_cents;
  std::int64_t reserve_cents;
  std::uint32_t category;
  std::array<char, 32> item;
  std::array<char, 128> description;
  std::array<char, 57> extra;
};
struct Bid {
  std::uint64_t auction;
  std::uint64_t bidder;
  std::int64_t price_cents;
  std::int64_t time_ms;
};
enum class AdEventKind : std::uint8_t { view, click, purchase };
struct AdEvent {
  std::uint64_t ad;
  std::int64_t time_ms;
  std::array<char, 16> user;
  std::array<char, 16> page;
  std::array<char, 16> address;
  std::array<char, 12> session;
  std::uint8_t ad_type;
  AdEventKind kind;
};
struct TaskEvent {
  std::uint64_t job;
  std::int64_t time_ms;
  std::uint32_t task;
  std::uint32_t machine;
  std::uint32_t cpu;  // millionths of a core
  std::uint32_t memory;
  std::uint32_t disk;
  std::uint16_t priority;
  std::uint8_t scheduling_class;
  std::uint8_t kind;
  std::array<char, 24> user;
};
static_assert(sizeof(Bid) == 32 && sizeof(TaskEvent) == 64);
// 206, 269 and 78 bytes of fields; the rest aligns.
static_assert(sizeof(Person) == 208 && sizeof(Auction) == 272 && sizeof(AdEvent) == 80);
static_assert(offsetof(Person, extra) + 60 == 206 && offsetof(Auction, extra) + 57 == 269);

inline constexpr std::uint64_t auctions_per_person = 3;
inline constexpr std::uint64_t bids_per_person = 10;

// Persons, and for each of them `others` auctions or bids behind it. Who those are of: half the
// time one of the newest 50 persons, else one of the newest 5,000.
class House {
 public:
  House(const Scale& scale, std::uint64_t others, std::uint64_t salt = 0)
      : time_of_(scale), others_(others), salt_(salt) {}

  std::uint64_t persons_of(std::uint64_t records) const { return records / (1 + others_.by()); }
  std::uint64_t others_of(std::uint64_t records) const {
    return persons_of(records) * others_.by();
  }
  std::int64_t time_of_person(std::uint64_t index) const {
    return time_of_(index * (1 + others_.by()));
  }
  std::int64_t time_of_other(std::uint64_t index) const {
    return time_of_(index + others_.quotient(index) + 1);
  }
  // Of an auction, or the bidder of a bid.
  std::uint64_t person_of(std::uint64_t index) const {
    return one_of_newest(others_.quotient(index), mixed(index ^ salt_));
  }
  void make(std::uint64_t index, Person& person) const {
    const std::uint64_t word = letters(mixed(index ^ salt_));
    person.id = index;
    person.time_ms = time_of_person(index);
    fill(person.name, word);
    fill(person.email, word);
    fill(person.credit_card, word);
    fill(person.city, word);
    fill(person.state, word);
    fill(person.extra, word);
  }
  void make(std::uint64_t index, Auction& auction) const {
    const std::uint64_t draw = mixed(index ^ salt_);
    const std::uint64_t word = letters(draw);
    auction.id = index;
    auction.seller = one_of_newest(others_.quotient(index), draw);
    auction.time_ms = time_of_other(index);
    auction.expires_ms = auction.time_ms + 20'000;
    auction.first_cents = 100;
    auction.reserve_cents = static_cast<std::int64_t>(below(mixed(draw), 100'000));
    auction.category = static_cast<std::uint32_t>(10 + draw % 5);
    fill(auction.item, word);
    fill(auction.description, word);
    fill(auction.extra, word);
  }
  void make(std::uint64_t index, Bid& bid) const {
    const std::uint64_t draw = mixed(index ^ salt_);
    const std::uint64_t further = mixed(draw);
    bid.auction = below(further, 1'000);
    bid.bidder = one_of_newest(others_.quotient(index), draw);
    bid.price_cents = static_cast<std::int64_t>(further & 0xFFFFF);
    bid.time_ms = time_of_other(index);
  }

 private:
  static std::uint64_t one_of_newest(std::uint64_t newest, std::uint64_t draw) {
    const std::uint64_t among = draw >> 63 != 0 ? 50 : 5'000;
    return newest - below(draw << 1, std::min(among, newest + 1));
  }
  TimeOfIndex time_of_;
  Divisor others_;
  std::uint64_t salt_;
};

template <typename KeyOf>
struct AdEventOfKey {
  KeyOf key_of;
  TimeOfIndex time_of;
  std::uint64_t salt = 0;
  AdEvent operator()(std::uint64_t index) const {
    const std::uint64_t draw = mixed(index ^ salt);
    const std::uint64_t word = letters(draw);
    AdEvent event;
    event.ad = key_of(index);
    event.time_ms = time_of(index);
    fill(event.user, word);
    fill(event.page, word);
    fill(event.address, word);
    fill(event.session, word);
    event.ad_type = static_cast<std::uint8_t>(draw & 3);
    event.kind = static_cast<AdEventKind>(below(draw << 32, 3));
    return event;
  }
};
template <typename KeyOf>
struct BidOfKey {
  KeyOf key_of;
  TimeOfIndex time_of;
  std::uint64_t salt = 0;
  Bid operator()(std::uint64_t index) const {
    const std::uint64_t draw = mixed(index ^ salt);
    return {key_of(index), draw & 0xFFFF, static_cast<std::int64_t>(mixed(draw) & 0xFFFFF),
            time_of(index)};
  }
};
template <typename KeyOf>
struct TaskEventOfKey {
  KeyOf key_of;
  TimeOfIndex time_of;
  std::uint64_t salt = 0;
  TaskEvent operator()(std::uint64_t index) const {
    const std::uint64_t draw = mixed(index ^ salt);
    TaskEvent event;
    event.job = key_of(index);
    event.time_ms = time_of(index);
    event.task = static_cast<std::uint32_t>(draw & 0xFFF);
    event.machine = static_cast<std::uint32_t>(draw >> 52);
    event.cpu = static_cast<std::uint32_t>(mixed(draw) & 0xFFFFF);
    event.memory = event.disk = event.machine;
    event.priority = static_cast<std::uint16_t>(draw & 7);
    event.scheduling_class = static_cast<std::uint8_t>(draw & 3);
    event.kind = 0;
    fill(event.user, letters(draw));
    return event;
  }
};
using AdEventOfIndex = AdEventOfKey<KeyOfIndex>;
using BidOfIndex = BidOfKey<KeyOfIndex>;
using TaskEventOfIndex = TaskEventOfKey<KeyOfIndex>;

// ---- results ----

// A window join's, or a session join's.
struct Sale {
  std::uint64_t person;
  std::uint64_t name;
  std::uint64_t item;
  std::int64_t cents;
};

// Independent of the order of the results.
struct Checksum {
  std::uint64_t results = 0;
  std::uint64_t sum = 0;

  template <typename... Values>
  void add(Values... values) {
    std::uint64_t hash = 0;
    ((hash = mixed(hash ^ static_cast<std::uint64_t>(values))), ...);
    ++results;
    sum += hash;
  }
  void add(const Sale& sale) { add(sale.person, sale.name, sale.item, sale.cents); }
};
// Of all threads.
struct SharedChecksum {
  std::atomic<std::uint64_t> results{0};
  std::atomic<std::uint64_t> sum{0};
  void add(const Checksum& part) {
    results += part.results;
    sum += part.sum;
  }
};

}  // namespace stateful
