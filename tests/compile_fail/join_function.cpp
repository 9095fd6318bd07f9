// mistake: A join's function that takes one record
// group: Keys and aggregates
// error: apply: the function of a join must take a record of each side, (const A&, const B&)
// names: apply
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by(&Order::id)
      .interval_join(orders.key_by(&Order::id))
      .between(-1'000, 1'000)
      .apply([](const Order& a) { return a.cents; })
      .print();
#else
  orders.key_by(&Order::id)
      .interval_join(orders.key_by(&Order::id))
      .between(-1'000, 1'000)
      .apply([](const Order& a, const Order& b) { return a.cents + b.cents; })
      .print();
#endif
}
