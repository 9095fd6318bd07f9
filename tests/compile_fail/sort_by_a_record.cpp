// mistake: A sort by what has no order
// group: Keys and aggregates
// error: sort: this key has no order that is known here: let the key be a number, text, or a
//   std::pair, std::tuple, std::array or std::optional of such
// names: sort
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.sort([](const Order& a) { return a; }).print();
#else
  orders.sort([](const Order& a) { return std::pair(a.item, a.cents); }).print();
#endif
}
