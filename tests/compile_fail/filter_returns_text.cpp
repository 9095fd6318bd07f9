// mistake: A filter that does not return bool
// group: Functions
// error: filter: its function must return bool, and returns something else: compare in it, or use
//   map to make new records
// names: filter
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.filter([](const Order& order) { return order.item; }).print();
#else
  orders.filter([](const Order& order) { return order.item == "tea"; }).print();
#endif
}
