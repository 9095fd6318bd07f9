// mistake: A flat_map without a collector
// group: Functions
// error: flat_map: its function must take (const T&, hummer::Collector<U>&) and put U's into the
//   collector; of a generic one name them: flat_map<U>(...)
// names: flat_map
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.flat_map([](const Order& order) { return std::vector{order.id, order.cents}; }).print();
#else
  orders
      .flat_map([](const Order& order, hummer::Collector<std::int64_t>& out) {
        out(order.id);
        out(order.cents);
      })
      .print();
#endif
}
