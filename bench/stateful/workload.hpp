// The input and the checksum of keyed state's rows, which jobs and bare loops share: each record is
// made from its index alone, with integers only, so that Java and SQL make the same ones
// (FlinkStateful.java and duckdb_stateful.py in peers/).
//
// Records have the fields and sizes of their benchmarks: NEXMark's person (206 bytes), auction
// (269) and bid (32), an advertisement event of the Yahoo streaming benchmark (78), a task event of
// Google's cluster trace (64), as the Slash paper (SIGMOD 2022) runs them. Text is filled with
// letters drawn once per record. Records are in the order of their times.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "windows/workload.hpp"

namespace stateful {

using windows::mixed;

inline std::uint64_t upper_half(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
}
// In [0, bound), of a draw that is as good as random.
inline std::uint64_t below(std::uint64_t draw, std::uint64_t bound) {
  return upper_half(draw, bound);
}

// Divides by a number that is known only when the program runs, without a division.
class Divisor {
 public:
  explicit Divisor(std::uint64_t by) : by_(by), reciprocal_(UINT64_MAX / by) {}
  std::uint64_t quotient(std::uint64_t value) const {
    const std::uint64_t low = upper_half(value, reciprocal_);  // at most one too small
    return low + (value - low * by_ >= by_ ? 1 : 0);
  }
  std::uint64_t rest(std::uint64_t value) const { return value - quotient(value) * by_; }
  std::uint64_t by() const { return by_; }

 private:
  std::uint64_t by_;
  std::uint64_t reciprocal_;
};

// ---- how large a row is ----

struct Scale {
  std::uint64_t records;
  std::uint64_t keys = 0;
  std::uint64_t records_per_window = 1;
  std::int64_t window_ms = 1;  // also the gap of sessions
};

// ---- keys and times ----

// rounds: each key once, then each key again, and so on, in an order without locality, so that it
// is known how often each one comes; changing: zipf, and from the middle on uniform.
enum class Distribution : std::uint8_t { rounds, uniform, zipf, changing };

inline Distribution distribution_of(std::string_view name) {
  constexpr std::string_view names[] = {"rounds", "uniform", "zipf", "changing"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (names[i] == name) return static_cast<Distribution>(i);
  }
  throw std::invalid_argument("--distribution takes rounds, uniform, zipf or changing");
}

class KeyOfIndex {
 public:
  KeyOfIndex(const Scale& scale, Distribution distribution)
      : keys_(scale.keys), half_(scale.records / 2), distribution_(distribution) {}
  std::uint64_t operator()(std::uint64_t index) const {
    switch (distribution_) {
      case Distribution::rounds: return keys_.rest(index * stride);
      case Distribution::uniform: return below(mixed(index), keys_.by());
      case Distribution::zipf: return skewed(mixed(index));
      case Distribution::changing: break;
    }
    return index < half_ ? skewed(mixed(index)) : below(mixed(index), keys_.by());
  }

 private:
  // A prime, so without a common divisor with the number of keys.
  static constexpr std::uint64_t stride = 2'654'435'761;
  // About z = 1: each octave of ranks is as likely as any other.
  std::uint64_t skewed(std::uint64_t draw) const {
    const auto octaves = static_cast<std::uint64_t>(std::bit_width(keys_.by()));
    const std::uint64_t first = std::uint64_t{1} << below(draw, octaves);
    return first - 1 + below(mixed(draw), std::min(first, keys_.by() - first + 1));
  }
  Divisor keys_;
  std::uint64_t half_;
  Distribution distribution_;
};

// So many records per window.
class TimeOfIndex {
 public:
  explicit TimeOfIndex(const Scale& scale)
      : window_ms_(static_cast<std::uint64_t>(scale.window_ms)),
        per_window_(scale.records_per_window) {}
  std::int64_t operator()(std::uint64_t index) const {
    return static_cast<std::int64_t>(per_window_.quotient(index * window_ms_));
  }

 private:
  std::uint64_t window_ms_;
  Divisor per_window_;
};

// ---- records ----

// Eight letters between a and p.
inline std::uint64_t letters(std::uint64_t draw) {
  return (draw & 0x0F0F0F0F0F0F0F0F) + 0x6161616161616161;
}
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
  House(const Scale& scale, std::uint64_t others) : time_of_(scale), others_(others) {}

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
    return one_of_newest(others_.quotient(index), mixed(index));
  }
  void make(std::uint64_t index, Person& person) const {
    const std::uint64_t word = letters(mixed(index));
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
    const std::uint64_t draw = mixed(index);
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
    const std::uint64_t draw = mixed(index);
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
};

struct AdEventOfIndex {
  KeyOfIndex key_of;
  TimeOfIndex time_of;
  AdEvent operator()(std::uint64_t index) const {
    const std::uint64_t draw = mixed(index);
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
struct BidOfIndex {
  KeyOfIndex key_of;
  TimeOfIndex time_of;
  Bid operator()(std::uint64_t index) const {
    const std::uint64_t draw = mixed(index);
    return {key_of(index), draw & 0xFFFF, static_cast<std::int64_t>(mixed(draw) & 0xFFFFF),
            time_of(index)};
  }
};
struct TaskEventOfIndex {
  KeyOfIndex key_of;
  TimeOfIndex time_of;
  TaskEvent operator()(std::uint64_t index) const {
    const std::uint64_t draw = mixed(index);
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
