// mistake: A sink without its write
// group: Sources and sinks
// error: abstract class type
// measure: the compiler's own
// names: write, Queue
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Queue : hummer::SinkFunction<Order> {
  hummer::OperatorResult put(std::span<const Order>) { return hummer::OperatorResult::done; }
};
#else
struct Queue : hummer::SinkFunction<Order> {
  hummer::OperatorResult write(std::span<const Order>) override {
    return hummer::OperatorResult::done;
  }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.add_sink("queue", [] { return std::make_unique<Queue>(); });
}
