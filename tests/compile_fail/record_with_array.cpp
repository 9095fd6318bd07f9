// mistake: A record with an array
// group: Records and state
// error: a record's type (Field) has an array as a member, such as char text[16]: use std::array
//   or std::string
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
  char name[16];
};
#else
struct Basket {
  std::int64_t id;
  std::array<char, 16> name;
};
#endif

Basket basket_of(const Order& order);
void build(const hummer::DataStream<Order>& orders) { orders.map(basket_of).print(); }
