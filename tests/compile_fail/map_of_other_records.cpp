// mistake: A function for records of another type
// group: Functions
// error: map: its function does not take the stream's records: its one parameter must be a const
//   T&
// names: map, Order
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.map([](const std::string& item) { return item.size(); }).print();
#else
  orders.map([](const Order& order) { return order.item.size(); }).print();
#endif
}
