// mistake: A key with views of text in it
// group: Keys and aggregates
// error: key_by: a key of several parts is kept longer than the record, so it must own its text:
//   use std::string in it instead of std::string_view
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
  orders
      .key_by([](const Order& order) { return std::pair(std::string_view(order.item), order.id); })
      .count()
      .print();
#else
  orders.key_by([](const Order& order) { return std::pair(order.item, order.id); }).count().print();
#endif
}
