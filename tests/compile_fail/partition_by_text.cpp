// mistake: A partition function that answers a key instead of a number
// group: Functions
// error: partition_custom: its function answers the number of a subtask, from 0 on
// names: partition_custom
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.partition_custom([](const Order& order, std::uint32_t) { return order.item; }).print();
#else
  orders
      .partition_custom([](const Order& order, std::uint32_t partitions) {
        return order.item.size() % partitions;
      })
      .print();
#endif
}
