// mistake: A hook that functions with keys don't have
// group: Process functions
// error: process: end and idle are no hooks of functions with keys, whose event timers fire at the
//   end: use set_event_timer, on_timer and out.ending()
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
  void process(const Order& order, hummer::KeyedOutput<Order>& out) {
    out.set_event_timer(order.time_ms);
  }
  void end(hummer::KeyedOutput<Order>&) {}
};
#else
struct Watch {
  void process(const Order& order, hummer::KeyedOutput<Order>& out) {
    out.set_event_timer(order.time_ms);
  }
  void on_timer(hummer::Timestamp, hummer::KeyedOutput<Order>&) {}
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.key_by(&Order::id).process(Watch{}).print();
}
