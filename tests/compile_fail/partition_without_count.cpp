// mistake: A partition function that is not told how many there are
// group: Functions
// error: partition_custom: its function takes (const T&, std::uint32_t partitions)
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
  orders.partition_custom([](const Order& order) { return order.id % 2; }).print();
#else
  orders
      .partition_custom([](const Order& order, std::uint32_t partitions) {
        return static_cast<std::uint64_t>(order.id) % partitions;
      })
      .print();
#endif
}
