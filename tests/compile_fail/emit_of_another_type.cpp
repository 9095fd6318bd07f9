// mistake: Putting out something else than the output's type
// group: Functions
// error: emit: no T, which this output has, can be made of this value (U): emit a T, or name the
//   other type where the output is declared
// names: emit
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.flat_map([](const Order& order, hummer::Collector<std::int64_t>& out) { out(order.item); })
      .print();
#else
  orders.flat_map([](const Order& order, hummer::Collector<std::string>& out) { out(order.item); })
      .print();
#endif
}
