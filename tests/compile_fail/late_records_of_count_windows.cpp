// mistake: Late records of windows that have none
// group: Windows
// error: no record is late in CountWindows or GlobalWindows: leave out late_output(...)
// names: late_output
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
  constexpr hummer::SideOutput<Order> late{"late"};
#ifdef MISTAKE
  orders.key_by(&Order::id).window(hummer::CountWindows::of(2)).late_output(late).count().print();
#else
  orders.key_by(&Order::id)
      .window(hummer::TumblingWindows::of(60'000))
      .late_output(late)
      .count()
      .print();
#endif
}
