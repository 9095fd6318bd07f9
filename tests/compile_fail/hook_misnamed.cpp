// mistake: A hook with a wrong name
// group: Process functions
// error: process: nothing calls this member of the function (member): the hook is called on_timer
// with
//   keys, timer without
// names: process, Watch, on_timers
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
  void on_timers(hummer::Timestamp, hummer::KeyedOutput<Order>&) {}
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
