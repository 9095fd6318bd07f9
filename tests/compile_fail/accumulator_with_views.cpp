// mistake: An accumulator with views of text in it
// group: Keys and aggregates
// error: aggregate: the accumulator is kept longer than the records, so an accumulator must own
//   its text: use std::string instead of std::string_view
// names: aggregate, Last
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Last {
  using Accumulator = std::string_view;
  using Result = std::uint64_t;
  void add(Accumulator& last, bool, const Order& order) const { last = order.item; }
  void merge(Accumulator& last, bool, const Accumulator& other) const { last = other; }
  std::uint64_t result(const Accumulator& last) const { return last.size(); }
};
#else
struct Last {
  using Accumulator = std::string;
  using Result = std::uint64_t;
  void add(Accumulator& last, bool, const Order& order) const { last = order.item; }
  void merge(Accumulator& last, bool, const Accumulator& other) const { last = other; }
  std::uint64_t result(const Accumulator& last) const { return last.size(); }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.key_by(&Order::id).aggregate("last", Last{}).print();
}
