// mistake: A key that is no member of the record
// group: Keys and aggregates
// error: key_by: the key must be a member of the record, &Order::id, or a function of a const T&
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
  orders.key_by([](const std::string& item) { return item.size(); }).count().print();
#else
  orders.key_by([](const Order& order) { return order.item.size(); }).count().print();
#endif
}
