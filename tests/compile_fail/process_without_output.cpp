// mistake: A generic process function that does not say what it puts out
// group: Process functions
// error: process: the function needs a member process(const T&, hummer::KeyedOutput<Out>&); where
//   that is generic, also using Output = Out
// names: process, Watch
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Watch {
  void process(const Order& order, auto& out) { out.emit(order); }
};
#else
struct Watch {
  using Output = Order;
  void process(const Order& order, auto& out) { out.emit(order); }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.key_by(&Order::id).process(Watch{}).print();
}
