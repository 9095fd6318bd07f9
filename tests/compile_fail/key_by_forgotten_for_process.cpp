// mistake: State per key without keys
// group: Process functions
// error: process: the function takes a hummer::KeyedOutput, with state and timers per key: put
//   key_by(...) in front
// names: process, Watch
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

struct Watch {
  hummer::ValueState<std::int64_t> last{"last"};
  void process(const Order& order, hummer::KeyedOutput<Order>& out) {
    if (order.cents > last.get_or(0)) out.emit(order);
    last.set(order.cents);
  }
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.process(Watch{}).print();
#else
  orders.key_by(&Order::id).process(Watch{}).print();
#endif
}
