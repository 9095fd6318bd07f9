// mistake: A window function with other parameters
// group: Windows
// error: process: the window function can't be called with (key, hummer::TimeWindow,
//   std::span<const T>, hummer::Collector<U>&), behind window_all without the key
// names: process
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.key_by(&Order::id)
      .window(hummer::TumblingWindows::of(60'000))
      .process([](std::int64_t, hummer::TimeWindow, const std::vector<Order>& all,
                  hummer::Collector<std::size_t>& out) { out(all.size()); })
      .print();
#else
  orders.key_by(&Order::id)
      .window(hummer::TumblingWindows::of(60'000))
      .process([](std::int64_t, hummer::TimeWindow, std::span<const Order> all,
                  hummer::Collector<std::size_t>& out) { out(all.size()); })
      .print();
#endif
}
