// mistake: A hook with other parameters
// group: Process functions
// error: process: the hook on_timer of the function has other parameters than it is called with:
//   on_timer(hummer::Timestamp, hummer::KeyedOutput<Out>&)
// names: process, Watch, on_timer
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
  void on_timer(hummer::KeyedOutput<Order>&) {}
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
