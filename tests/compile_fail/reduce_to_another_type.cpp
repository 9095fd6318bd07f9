// mistake: A reduce whose result is of another type
// group: Keys and aggregates
// error: reduce: its function must return a T, the type of the records, and returns another one:
//   use aggregate where the result is of another type
// names: reduce
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
      .reduce([](const Order& a, const Order& b) { return a.cents + b.cents; })
      .print();
#else
  orders.key_by(&Order::id)
      .reduce([](const Order& a, const Order& b) { return a.cents > b.cents ? a : b; })
      .print();
#endif
}
