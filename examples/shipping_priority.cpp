// TPC-H's third query, Shipping Priority: the orders with the most revenue that had not been
// shipped on a day. --input a directory with customer.tbl, orders.tbl and lineitem.tbl, as the
// benchmark's dbgen writes them; --limit how many.
//
//   select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate,
//          o_shippriority
//   from customer, orders, lineitem
//   where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
//     and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
//   group by l_orderkey, o_orderdate, o_shippriority
//   order by revenue desc, o_orderdate limit 10
#include <hummer/hummer.hpp>

#include <array>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

namespace {

constexpr std::string_view day = "1995-03-15";
constexpr std::string_view segment = "BUILDING";

struct Customer {
  std::int64_t key = 0;
  bool builds = false;
};
struct Order {
  std::int64_t key = 0;
  std::int64_t customer = 0;
  std::string date;  // they compare as text
  int ship_priority = 0;
};
struct LineItem {
  std::int64_t order = 0;
  std::int64_t revenue = 0;  // in ten-thousandths
  bool is_late = false;
};
struct Revenue {
  std::int64_t order = 0;
  std::int64_t revenue = 0;
  std::string date;
  int ship_priority = 0;
};

// The fields of a row, which end with '|', from the first up to one that is wanted.
template <std::size_t count>
std::array<std::string_view, count> fields_of(std::string_view row) {
  std::array<std::string_view, count> fields;
  for (std::string_view& field : fields) {
    const std::size_t end = row.find('|');
    if (end == row.npos) throw std::invalid_argument("the row has too few fields");
    field = row.substr(0, end);
    row.remove_prefix(end + 1);
  }
  return fields;
}

// Also of a number with two decimal places, times a hundred.
std::int64_t number_of(std::string_view text, bool in_hundredths = false) {
  std::string digits(text);
  if (in_hundredths) {
    const std::size_t point = digits.find('.');
    if (point == digits.npos || digits.size() - point != 3) {
      throw std::invalid_argument("no number with two decimal places: " + digits);
    }
    digits.erase(point, 1);
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw std::invalid_argument("no number: " + digits);
  }
  return number;
}

Customer customer_of(std::string_view row) {
  const auto fields = fields_of<7>(row);
  return {.key = number_of(fields[0]), .builds = fields[6] == segment};
}

Order order_of(std::string_view row) {
  const auto fields = fields_of<8>(row);
  return {.key = number_of(fields[0]),
          .customer = number_of(fields[1]),
          .date = std::string(fields[4]),
          .ship_priority = static_cast<int>(number_of(fields[7]))};
}

LineItem line_item_of(std::string_view row) {
  const auto fields = fields_of<11>(row);
  return {.order = number_of(fields[0]),
          .revenue = number_of(fields[5], true) * (100 - number_of(fields[6], true)),
          .is_late = fields[10] > day};
}

Revenue total_of(const std::int64_t& order, hummer::Group<Revenue>& items) {
  Revenue total;
  total.order = order;
  while (const Revenue* item = items.next()) {
    total.revenue += item->revenue;
    total.date = item->date;
    total.ship_priority = item->ship_priority;
  }
  return total;
}

std::string line_of(const Revenue& order) {
  std::string cents = std::to_string(order.revenue % 10'000);
  cents.insert(0, 4 - cents.size(), '0');
  return std::to_string(order.order) + '|' + std::to_string(order.revenue / 10'000) + '.' + cents +
         '|' + order.date + '|' + std::to_string(order.ship_priority);
}

// The first so many of a stream with one subtask.
struct First {
  std::int64_t left;
  bool operator()(const Revenue&) { return left-- > 0; }
};

}  // namespace

void shipping_priority(hummer::StreamExecutionEnvironment& env) {
  const std::string input = env.argument("input", "directory with the tables");
  const std::int64_t limit =
      number_of(env.argument_or("limit", "10", "how many orders; 0: all of them"));
  const std::string output = env.argument_or("output", "-", "file to write");

  const auto customers =
      env.from_file(input + "/customer.tbl").map(customer_of).filter([](const Customer& customer) {
        return customer.builds;
      });
  const auto orders =
      env.from_file(input + "/orders.tbl").map(order_of).filter([](const Order& order) {
        return order.date < day;
      });
  const auto items =
      env.from_file(input + "/lineitem.tbl").map(line_item_of).filter([](const LineItem& item) {
        return item.is_late;
      });

  const auto revenues =
      orders.key_by(&Order::customer)
          .join(customers.key_by(&Customer::key))
          .inner()
          .apply([](const Order& order, const Customer&) { return order; })
          .key_by(&Order::key)
          .join(items.key_by(&LineItem::order))
          .inner()
          .apply([](const Order& order, const LineItem& item) {
            return Revenue{order.key, item.revenue, order.date, order.ship_priority};
          })
          .group_by(&Revenue::order)
          .reduce_group([](const std::int64_t& order, hummer::Group<Revenue>& group,
                           hummer::Collector<Revenue>& out) { out(total_of(order, group)); })
          .sort([](const Revenue& order) {
            return std::tuple(hummer::descending(order.revenue), std::string_view(order.date),
                              order.order);
          });
  const auto first = limit == 0
                         ? revenues
                         : revenues.filter(hummer::rebuildable(First{limit}, limit)).parallelism(1);
  first.map(line_of).parallelism(1).write_file(output);
  env.execute("ShippingPriority");
}

HUMMER_JOB(shipping_priority)
