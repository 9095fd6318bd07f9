// mistake: A tag for late records of another type
// group: Windows
// error: late_output: the tag must be a hummer::SideOutput<T> of the records that go into the
//   windows
// names: late_output
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  constexpr hummer::SideOutput<std::string> late{"late"};
  orders.key_by(&Order::id)
      .window(hummer::TumblingWindows::of(60'000))
      .late_output(late)
      .count()
      .print();
#else
  constexpr hummer::SideOutput<Order> late{"late"};
  orders.key_by(&Order::id)
      .window(hummer::TumblingWindows::of(60'000))
      .late_output(late)
      .count()
      .print();
#endif
}
