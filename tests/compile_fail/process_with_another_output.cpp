// mistake: A process function with the output of another call
// group: Process functions
// error: process: the function can't be called with the stream's records and what it puts out:
//   process(const T&, hummer::ProcessOutput<Out>&)
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
  void process(const Order& order, hummer::Collector<Order>& out) { out(order); }
};
#else
struct Watch {
  void process(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
};
#endif

void build(const hummer::DataStream<Order>& orders) { orders.process(Watch{}).print(); }
