// mistake: A key that is a pointer
// group: Keys and aggregates
// error: a record holds a pointer (Field), which means nothing in another process: hold the value
//   itself, or a std::optional of it
// names: key_by
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by([](const Order& order) { return &order.item; }).count().print();
#else
  orders.key_by([](const Order& order) { return order.item; }).count().print();
#endif
}
