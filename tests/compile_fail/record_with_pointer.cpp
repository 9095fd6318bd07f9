// mistake: A record with a pointer
// group: Records and state
// error: a record holds a pointer (Field), which means nothing in another process: hold the value
//   itself, or a std::optional of it
// names: map, Basket
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Basket {
  std::int64_t id;
  const Order* order;
};
#else
struct Basket {
  std::int64_t id;
  std::optional<Order> order;
};
#endif

Basket basket_of(const Order& order);
void build(const hummer::DataStream<Order>& orders) { orders.map(basket_of).print(); }
