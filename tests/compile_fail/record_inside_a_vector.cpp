// mistake: A mistake deep inside of a record
// group: Records and state
// error: a record holds a pointer (Field), which means nothing in another process: hold the value
//   itself, or a std::optional of it
// names: map, Item
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Item {
  const char* name;
};
#else
struct Item {
  std::string name;
};
#endif

struct Basket {
  std::vector<std::optional<Item>> items;
};

Basket basket_of(const Order& order);
void build(const hummer::DataStream<Order>& orders) { orders.map(basket_of).print(); }
