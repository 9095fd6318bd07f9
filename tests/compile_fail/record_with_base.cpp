// mistake: A record with a base class
// group: Records and state
// error: a record's type (Field) has a base class, which reflection can't take apart: make it a
//   member, or specialise hummer::Codec<Field> (hummer/codec.hpp)
// names: map, Basket
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Basket : Order {
  std::int64_t size;
};
#else
struct Basket {
  Order order;
  std::int64_t size;
};
#endif

Basket basket_of(const Order& order);
void build(const hummer::DataStream<Order>& orders) { orders.map(basket_of).print(); }
