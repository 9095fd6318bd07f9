// mistake: A record with a member that has no codec
// group: Records and state
// error: a member's type (Field) has no hummer::Codec: use numbers, text, pairs, tuples, vectors,
//   optionals and structs of these, or specialise hummer::Codec<Field>
// names: map, Basket, std::map
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
  std::map<std::string, std::int64_t> items;
};
#else
struct Basket {
  std::int64_t id;
  std::vector<std::pair<std::string, std::int64_t> > items;
};
#endif

Basket basket_of(const Order& order);
void build(const hummer::DataStream<Order>& orders) { orders.map(basket_of).print(); }
