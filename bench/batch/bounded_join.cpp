// Joins whole rows of orders and line items of TPC-H by the order's key, for
// bench/acceptance/batch/06-bounded: --input a directory with orders.tbl and lineitem.tbl; --kind
// inner, left_outer, right_outer or full_outer; --strategy sort_merge or hybrid_hash; --output.
//
// Of the orders those that are not urgent, of the line items those that were not returned: so both
// sides have records without a partner. A result is the comment of the order, and number and
// comment of the line item; what is missing is empty.
#include <hummer/hummer.hpp>

#include <charconv>
#include <string>
#include <string_view>

namespace {

std::string_view field(std::string_view row, int number) {
  for (int i = 0; i < number; ++i) row.remove_prefix(row.find('|') + 1);
  return row.substr(0, row.find('|'));
}

std::int64_t key_of(const std::string& row) {
  std::int64_t key = 0;
  std::from_chars(row.data(), row.data() + row.size(), key);
  return key;
}

std::string line_of(const std::string* order, const std::string* item) {
  std::string line = order == nullptr ? std::string() : std::string(field(*order, 8));
  line += '|';
  if (item != nullptr) line.append(field(*item, 3)) += '|' + std::string(field(*item, 15));
  return line;
}

}  // namespace

void bounded_join(hummer::StreamExecutionEnvironment& env) {
  const std::string input = env.argument("input");
  const std::string kind = env.argument_or("kind", "inner");
  const auto strategy = env.argument_or("strategy", "hybrid_hash") == "sort_merge"
                            ? hummer::JoinStrategy::sort_merge
                            : hummer::JoinStrategy::hybrid_hash;
  const auto orders = env.from_file(input + "/orders.tbl")
                          .filter([](std::string_view row) { return field(row, 5) != "1-URGENT"; })
                          .owned();
  const auto items = env.from_file(input + "/lineitem.tbl")
                         .filter([](std::string_view row) { return field(row, 8) != "R"; })
                         .owned();
  const auto key = [](const std::string& row) { return key_of(row); };
  const auto join = orders.key_by(key).join(items.key_by(key));
  const std::string output = env.argument("output");
  if (kind == "left_outer") {
    join.left_outer(strategy)
        .apply([](const std::string& a, const std::string* b) { return line_of(&a, b); })
        .write_file(output);
  } else if (kind == "right_outer") {
    join.right_outer(strategy)
        .apply([](const std::string* a, const std::string& b) { return line_of(a, &b); })
        .write_file(output);
  } else if (kind == "full_outer") {
    join.full_outer(strategy)
        .apply([](const std::string* a, const std::string* b) { return line_of(a, b); })
        .write_file(output);
  } else {
    join.inner(strategy)
        .apply([](const std::string& a, const std::string& b) { return line_of(&a, &b); })
        .write_file(output);
  }
  env.execute("BoundedJoin");
}

HUMMER_JOB(bounded_join)
