// mistake: A sink that is not made as a std::unique_ptr
// group: Sources and sinks
// error: add_sink: the second argument must be a function without parameters that returns a
//   std::unique_ptr to a hummer::SinkFunction<T> or hummer::TwoPhaseSinkFunction<T>
// names: add_sink
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

struct Queue : hummer::SinkFunction<Order> {
  hummer::OperatorResult write(std::span<const Order>) override {
    return hummer::OperatorResult::done;
  }
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.add_sink("queue", Queue{});
#else
  orders.add_sink("queue", [] { return std::make_unique<Queue>(); });
#endif
}
