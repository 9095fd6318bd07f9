// mistake: A list of side outputs that is not const
// group: Process functions
// error: process: side_outputs() of the function is called on a const object: declare it
//   hummer::SideOutputPorts side_outputs() const
// names: process, Watch
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
constexpr hummer::SideOutput<Order> cheap{"cheap"};
struct Watch {
  hummer::SideOutputPorts side_outputs() { return hummer::side_outputs(cheap); }
  void process(const Order& order, hummer::ProcessOutput<Order>& out) { out.side(cheap, order); }
};
#else
constexpr hummer::SideOutput<Order> cheap{"cheap"};
struct Watch {
  hummer::SideOutputPorts side_outputs() const { return hummer::side_outputs(cheap); }
  void process(const Order& order, hummer::ProcessOutput<Order>& out) { out.side(cheap, order); }
};
#endif

void build(const hummer::DataStream<Order>& orders) { orders.process(Watch{}).print(); }
