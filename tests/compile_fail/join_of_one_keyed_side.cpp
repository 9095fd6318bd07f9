// mistake: A join whose second side has no keys
// group: Keys and aggregates
// error: join: the second side has no keys: put key_by(...) behind it
// names: join
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
      .join(orders)
      .window(hummer::TumblingWindows::of(60'000))
      .apply([](const Order& a, const Order& b) { return a.cents + b.cents; })
      .print();
#else
  orders.key_by(&Order::id)
      .join(orders.key_by(&Order::id))
      .window(hummer::TumblingWindows::of(60'000))
      .apply([](const Order& a, const Order& b) { return a.cents + b.cents; })
      .print();
#endif
}
