// mistake: An outer join's function without a pointer
// group: Keys and aggregates
// error: apply: the function of a join must take a record of each side; where the join keeps
//   records of the other side that have no partner, a pointer to it, which is null then: left_outer
//   (const A&, const B*), right_outer (const A*, const B&), full_outer (const A*, const B*)
// names: apply
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by(&Order::id)
      .join(orders.key_by(&Order::cents))
      .left_outer()
      .apply([](const Order& a, const Order& b) { return a.cents + b.cents; })
      .print();
#else
  orders.key_by(&Order::id)
      .join(orders.key_by(&Order::cents))
      .left_outer()
      .apply([](const Order& a, const Order* b) { return b == nullptr ? 0 : a.cents + b->cents; })
      .print();
#endif
}
