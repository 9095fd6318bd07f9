// mistake: A generic flat_map whose results nobody names
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
  orders.flat_map([](const Order& order, auto& out) { out(order.id); }).print();
#else
  orders.flat_map<std::int64_t>([](const Order& order, auto& out) { out(order.id); }).print();
#endif
}
