// mistake: Lateness of windows in which no record is late
// group: Windows
// error: no record is late in CountWindows or GlobalWindows: leave out allowed_lateness(...)
// names: allowed_lateness
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by(&Order::id).window(hummer::GlobalWindows{}).allowed_lateness(100).count().print();
#else
  orders.key_by(&Order::id).window(hummer::GlobalWindows{}).count().print();
#endif
}
