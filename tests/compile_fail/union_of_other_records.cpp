// mistake: A union of streams of different types
// group: Functions
// error: union_with: all streams need records of the same type: put a map in front of those that
//   have others
// names: union_with
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
  const auto ids = orders.map([](const Order& order) { return order.id; });
#ifdef MISTAKE
  orders.union_with(ids).print();
#else
  ids.union_with(orders.map([](const Order& order) { return order.cents; })).print();
#endif
}
