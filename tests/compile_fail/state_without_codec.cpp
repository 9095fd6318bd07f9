// mistake: A state of a type without a codec
// group: Records and state
// error: this type has no hummer::Codec: make its members public and leave out constructors, or
//   specialise hummer::Codec for it (hummer/codec.hpp)
// names: std::map
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Watch {
  hummer::ValueState<std::map<std::string, int>> seen{"seen"};
  void process(const Order& order, hummer::KeyedOutput<Order>& out) {
    if (!seen.has_value()) out.emit(order);
  }
};
#else
struct Watch {
  hummer::MapState<std::string, int> seen{"seen"};
  void process(const Order& order, hummer::KeyedOutput<Order>& out) {
    if (!seen.contains(order.item)) out.emit(order);
  }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.key_by(&Order::id).process(Watch{}).print();
}
