// mistake: A join of keys of different types
// group: Keys and aggregates
// error: join: both sides need keys of the same type (KeyA, KeyB): convert one of them in its
//   key_by(...)
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
      .join(orders.key_by(&Order::item))
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
