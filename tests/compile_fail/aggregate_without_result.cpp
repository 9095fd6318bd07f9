// mistake: An aggregate without a type Result
// group: Keys and aggregates
// error: aggregate: the aggregate has no type Result: name what result(accumulator) returns, such
//   as using Result = double
// names: aggregate, Total
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Total {
  using Accumulator = std::int64_t;
  void add(Accumulator& all, bool, const Order& order) const { all += order.cents; }
  void merge(Accumulator& all, bool, Accumulator other) const { all += other; }
  std::int64_t result(Accumulator all) const { return all; }
};
#else
struct Total {
  using Accumulator = std::int64_t;
  using Result = std::int64_t;
  void add(Accumulator& all, bool, const Order& order) const { all += order.cents; }
  void merge(Accumulator& all, bool, Accumulator other) const { all += other; }
  std::int64_t result(Accumulator all) const { return all; }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.key_by(&Order::id).window(hummer::TumblingWindows::of(60'000)).aggregate(Total{}).print();
}
