// error: an accumulator must own its text
#include <hummer/hummer.hpp>

std::size_t size(const hummer::AccumulatorTable<int, std::string_view>& table) {
  return table.size();
}
