// mistake: Windows that are a number
// group: Windows
// error: window: takes windows, such as hummer::TumblingWindows::of(60'000) of hummer/windows.hpp
// names: window
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by(&Order::id).window(60'000).count().print();
#else
  orders.key_by(&Order::id).window(hummer::TumblingWindows::of(60'000)).count().print();
#endif
}
