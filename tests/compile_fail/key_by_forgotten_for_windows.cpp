// mistake: Windows without keys
// group: Keys and aggregates
// error: this call is of streams with keys: put key_by(...) in front of it (or window_all(...),
// where
//   all records are aggregated together)
// names: window, DataStream
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.window(hummer::TumblingWindows::of(60'000)).sum(&Order::cents).print();
#else
  orders.key_by(&Order::item)
      .window(hummer::TumblingWindows::of(60'000))
      .sum(&Order::cents)
      .print();
#endif
}
