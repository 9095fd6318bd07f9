// mistake: A process function for records of another type
// group: Process functions
// error: process: the function can't be called with the stream's records and what it puts out:
//   process(const T&, hummer::KeyedOutput<Out>&)
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
  void process(const std::string& item, hummer::KeyedOutput<std::string>& out) { out.emit(item); }
};
#else
struct Watch {
  void process(const Order& order, hummer::KeyedOutput<std::string>& out) { out.emit(order.item); }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.key_by(&Order::id).process(Watch{}).print();
}
