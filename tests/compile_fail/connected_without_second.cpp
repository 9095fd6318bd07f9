// mistake: A function of two streams for one of them
// group: Process functions
// error: process: the function of connected streams can't be called: it needs process_first(const
//   A&, hummer::ProcessOutput<Out>&) and process_second(const B&, the same)
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
  void process_first(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
};
#else
struct Watch {
  void process_first(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
  void process_second(const Order& order, hummer::ProcessOutput<Order>& out) { out.emit(order); }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.connect(orders).process(Watch{}).print();
}
