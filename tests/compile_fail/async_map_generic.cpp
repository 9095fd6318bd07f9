// mistake: An async_map whose result nobody names
// group: Functions
// error: async_map: its function must take (const T&, hummer::AsyncResult<U>), by value and not
//   generic, and complete the result later
// names: async_map
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.async_map([](const Order& order, auto result) { result.complete(order.id); }).print();
#else
  orders
      .async_map([](const Order& order, hummer::AsyncResult<std::int64_t> result) {
        result.complete(order.id);
      })
      .print();
#endif
}
