// mistake: A flat_map for records of another type
// group: Functions
// error: flat_map: its function does not take the stream's records: its parameters must be (const
//   T&, hummer::Collector<U>&)
// names: flat_map
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.flat_map([](const std::string& item, hummer::Collector<char>& out) { out(item.at(0)); })
      .print();
#else
  orders.flat_map([](const Order& order, hummer::Collector<char>& out) { out(order.item.at(0)); })
      .print();
#endif
}
