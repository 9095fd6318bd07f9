// mistake: An aggregate that can't merge
// group: Keys and aggregates
// error: aggregate: the aggregate needs a member void merge(Accumulator&, bool is_new, const
//   Accumulator& other) const
// names: aggregate, Mean
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

#ifdef MISTAKE
struct Mean {
  struct Accumulator {
    double sum;
    std::uint64_t count;
  };
  using Result = double;
  void add(Accumulator& all, bool, const Order& order) const {
    all.sum += static_cast<double>(order.cents);
    ++all.count;
  }
  double result(const Accumulator& all) const { return all.sum / static_cast<double>(all.count); }
};
#else
struct Mean {
  struct Accumulator {
    double sum;
    std::uint64_t count;
  };
  using Result = double;
  void add(Accumulator& all, bool, const Order& order) const {
    all.sum += static_cast<double>(order.cents);
    ++all.count;
  }
  void merge(Accumulator& all, bool, const Accumulator& other) const {
    all.sum += other.sum;
    all.count += other.count;
  }
  double result(const Accumulator& all) const { return all.sum / static_cast<double>(all.count); }
};
#endif

void build(const hummer::DataStream<Order>& orders) {
  orders.key_by(&Order::id).aggregate("mean", Mean{}).print();
}
