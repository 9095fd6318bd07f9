// mistake: A record with private members
// group: Records and state
// error: this type has no hummer::Codec: make its members public and leave out constructors, or
//   specialise hummer::Codec for it (hummer/codec.hpp)
// names: map, Basket
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
class Basket {
 public:
  std::int64_t id() const { return id_; }

 private:
  std::int64_t id_ = 0;
};
#else
struct Basket {
  std::int64_t id = 0;
};
#endif

Basket basket_of(const Order& order);
void build(const hummer::DataStream<Order>& orders) { orders.map(basket_of).print(); }
