// mistake: A trigger of windows of records
// group: Windows
// error: trigger: windows of records have none: use hummer::GlobalWindows with a trigger
// names: trigger
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
      .window(hummer::CountWindows::of(2))
      .trigger(hummer::CountTrigger::of(1))
      .count()
      .print();
#else
  orders.key_by(&Order::id)
      .window(hummer::GlobalWindows{})
      .trigger(hummer::CountTrigger::of(1))
      .count()
      .print();
#endif
}
