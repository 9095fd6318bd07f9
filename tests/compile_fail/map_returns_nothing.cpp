// mistake: A map that returns nothing
// group: Functions
// error: map: its function returns nothing: let it return the new record, or use for_each for an
//   effect, and flat_map for any number of records
// names: map
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.map([](const Order& order) { std::puts(order.item.c_str()); }).print();
#else
  orders.for_each([](const Order& order) { std::puts(order.item.c_str()); });
#endif
}
