// mistake: Timestamps in seconds
// group: Functions
// error: assign_timestamps: times are whole milliseconds since 1970; of seconds as a number with a
//   fraction return static_cast<hummer::Timestamp>(seconds * 1000)
// names: assign_timestamps
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

void build(const hummer::DataStream<Order>& orders) {
#ifdef MISTAKE
  orders.assign_timestamps([](const Order& order) { return order.time_ms / 1000.0; },
                           hummer::WatermarkStrategy::ascending());
#else
  orders.assign_timestamps([](const Order& order) { return order.time_ms; },
                           hummer::WatermarkStrategy::ascending());
#endif
}
