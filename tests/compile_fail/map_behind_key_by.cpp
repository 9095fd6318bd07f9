// mistake: A map behind key_by
// group: Keys and aggregates
// error: this call is of streams without keys: put it in front of key_by(...), or behind what is
// done by
//   key, such as count() or process(...)
// names: map, KeyedStream
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by(&Order::item).map([](const Order& order) { return order.cents; }).print();
#else
  orders.map([](const Order& order) { return order.cents; })
      .key_by(hummer::identity)
      .count()
      .print();
#endif
}
