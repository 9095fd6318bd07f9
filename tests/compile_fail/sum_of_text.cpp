// mistake: A sum of something that is no number
// group: Keys and aggregates
// error: sum: its function must return a number: use reduce or aggregate for other values
// names: sum
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by(&Order::id).sum(&Order::item).print();
#else
  orders.key_by(&Order::id).sum(&Order::cents).print();
#endif
}
