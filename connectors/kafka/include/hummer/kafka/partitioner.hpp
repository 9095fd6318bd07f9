// Partitioners: which partition a record goes to, where its message names none.
//
//   kafka::to_topics(totals, "totals", settings, write_total);                    // by its key
//   kafka::to_topics(totals, "totals", settings, write_total, kafka::RoundRobin{});
//   kafka::to_topics(totals, "totals", settings, write_total,
//                    kafka::by_field([](const Total& total) { return total.country; }));
//   kafka::to_topics(totals, "totals", settings, write_total,
//                    [](const Total& total, std::int32_t partitions) {
//                      return total.is_urgent ? 0 : 1 + total.shard % (partitions - 1);
//                    });
//
//   ByKey       murmur2 of the key, as Java's clients hash it; without a key any partition
//   RoundRobin  one after the other, each subtask by itself
//   by_field    murmur2 of the text or the whole number that the function answers: a number's as
//               the bytes that Java's LongSerializer makes of it
//   any other   a function of the record and of how many partitions there are; what it answers
//               outside of these fails the job
//
// A partitioner is copied to each subtask, and called on its thread, when the record comes to the
// sink; but for ByKey it goes by the number of partitions as the brokers have told it within the
// last five minutes. Equal fields go to the same partition until the topic gets more of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/detail/captured_values.hpp>

namespace hummer::kafka {

// As Java's clients have it.
std::uint32_t murmur2(std::string_view bytes);
// Of a whole number, by its bytes from the highest on.
std::uint32_t murmur2(std::int64_t number);

struct ByKey {};

class RoundRobin {
 public:
  template <typename T>
  std::int32_t operator()(const T&, std::int32_t partitions) {
    return static_cast<std::int32_t>(turn_++ % static_cast<std::uint32_t>(partitions));
  }

 private:
  std::uint32_t turn_ = 0;
};

template <typename Function>
class ByField {
 public:
  explicit ByField(Function function)
      : captured_values(hummer::captured_values(function)), function_(std::move(function)) {}

  template <typename T>
  std::int32_t operator()(const T& record, std::int32_t partitions) {
    return static_cast<std::int32_t>((hash(function_(record)) & 0x7fffffff) %
                                     static_cast<std::uint32_t>(partitions));
  }

  CapturedValues captured_values;

 private:
  template <typename Field>
  static std::uint32_t hash(const Field& field) {
    if constexpr (std::is_integral_v<Field> || std::is_enum_v<Field>) {
      return murmur2(static_cast<std::int64_t>(field));
    } else {
      static_assert(std::is_convertible_v<const Field&, std::string_view>,
                    "by_field: the function answers text or a whole number");
      return murmur2(std::string_view(field));
    }
  }

  Function function_;
};

template <typename Function>
ByField<Function> by_field(Function function) {
  return ByField<Function>(std::move(function));
}

}  // namespace hummer::kafka
