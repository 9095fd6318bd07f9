// mistake: A declared capture of a type without a codec
// group: Functions
// error: a record holds a pointer (Field), which means nothing in another process: hold the value
//   itself, or a std::optional of it
// names: encoded_values
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
  static const Order cheapest{};
#ifdef MISTAKE
  const Order* least = &cheapest;
  orders
      .filter(hummer::rebuildable(
          [least](const Order& order) { return order.cents > least->cents; }, least))
      .print();
#else
  const std::int64_t least = cheapest.cents;
  orders
      .filter(
          hummer::rebuildable([least](const Order& order) { return order.cents > least; }, least))
      .print();
#endif
}
