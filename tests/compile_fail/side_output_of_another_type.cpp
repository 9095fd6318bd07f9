// mistake: A record of the wrong type to a side output
// group: Process functions
// error: emit: no T, which this output has, can be made of this value (U): emit a T, or name the
//   other type where the output is declared
// names: side
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
  hummer::SideOutputPorts side_outputs() const { return hummer::side_outputs(cheap); }
  void process(const Order& order, hummer::ProcessOutput<Order>& out) {
    out.side(cheap, order.item);
  }
};
#else
constexpr hummer::SideOutput<std::string> cheap{"cheap"};
struct Watch {
  hummer::SideOutputPorts side_outputs() const { return hummer::side_outputs(cheap); }
  void process(const Order& order, hummer::ProcessOutput<Order>& out) {
    out.side(cheap, order.item);
  }
};
#endif

void build(const hummer::DataStream<Order>& orders) { orders.process(Watch{}).print(); }
