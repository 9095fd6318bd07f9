// What the tests of window operators share: a record type, and expected results.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/aggregate.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/window_results.hpp>
#include <hummer/testing/operator_harness.hpp>
#include <hummer/triggers.hpp>
#include <hummer/windows.hpp>

namespace hummer {

struct Sale {
  std::int64_t shop;
  std::int64_t amount;
};
inline constexpr auto shop_of = [](const Sale& sale) { return sale.shop; };
inline constexpr auto amount_of = [](const Sale& sale) { return sale.amount; };
using ShopOf = std::remove_const_t<decltype(shop_of)>;
using SaleSum = SumAggregate<std::int64_t, std::remove_const_t<decltype(amount_of)>>;
using SumWindow = Windowed<std::int64_t, std::int64_t>;
using SumValue = WindowValue<std::int64_t, SaleSum>;

// The last result of each key and window, in their order: where batches end decides how often a
// window's result is refined.
inline std::vector<SumWindow> last_of_each(const std::vector<SumWindow>& seen) {
  std::map<std::pair<std::int64_t, TimeWindow>, std::int64_t> last;
  for (const SumWindow& one : seen) last[{one.key, one.window}] = one.value;
  std::vector<SumWindow> result;
  for (const auto& [at, value] : last) result.push_back({at.first, at.second, value});
  return result;
}

}  // namespace hummer
