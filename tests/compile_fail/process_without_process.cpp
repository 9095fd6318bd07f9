// mistake: A process function without a member process
// group: Process functions
// error: process: the function needs a member process(const T&, hummer::ProcessOutput<Out>&);
//   where that is generic, also using Output = Out
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
  void handle(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
};
#else
struct Watch {
  void process(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
};
#endif

void build(const hummer::DataStream<Order>& orders) { orders.process(Watch{}).print(); }
