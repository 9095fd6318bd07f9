// mistake: A hook of a function without keys with a wrong name
// group: Process functions
// error: process: nothing calls this member of the function (member): the hook is called end (with
// keys
//   none is: event timers fire at the end)
// names: process, Watch, on_end
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Watch {
  void process(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
  void on_end(hummer::ProcessOutput<Order>& out) { out.emit(Order{}); }
};
#else
struct Watch {
  void process(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
  void end(hummer::ProcessOutput<Order>& out) { out.emit(Order{}); }
};
#endif

void build(const hummer::DataStream<Order>& orders) { orders.process(Watch{}).print(); }
