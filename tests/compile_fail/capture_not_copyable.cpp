// mistake: A function that captures what can't be copied
// group: Functions
// error: this function can't be copied, and each subtask gets a copy of its own: capture a
//   std::shared_ptr instead, or make in open() what can't be copied
// names: map
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  auto names = std::make_unique<std::vector<std::string>>();
  orders.map([names = std::move(names)](const Order& order) { return names->size() + order.id; })
      .print();
#else
  auto names = std::make_shared<std::vector<std::string>>();
  orders.map([names = std::move(names)](const Order& order) { return names->size() + order.id; })
      .print();
#endif
}
