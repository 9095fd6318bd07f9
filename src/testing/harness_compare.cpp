// The last step of a HarnessRun: what was seen against what was expected.
#include <algorithm>

#include "testing/harness_run.hpp"

namespace hummer {
namespace {

using Items = std::vector<HarnessItem>;

// Calls function(first, end) for each run of records between two watermarks.
template <typename Function>
void for_each_segment(const Items& items, Function&& function) {
  std::size_t first = 0;
  for (std::size_t i = 0; i <= items.size(); ++i) {
    if (i < items.size() && !items[i].is_watermark) continue;
    function(first, i);
    first = i + 1;
  }
}

Items normalised(const Items& items, const HarnessPort& port) {
  Items result;
  for_each_segment(items, [&](std::size_t first, std::size_t end) {
    std::vector<std::string> records;
    for (std::size_t i = first; i < end; ++i) records.push_back(items[i].encoded);
    port.normalise(records);
    for (std::string& record : records) result.push_back({false, std::move(record)});
    if (end < items.size()) result.push_back(items[end]);
  });
  return result;
}

void sort_segments(Items& items) {
  for_each_segment(items, [&](std::size_t first, std::size_t end) {
    std::sort(items.begin() + static_cast<std::ptrdiff_t>(first),
              items.begin() + static_cast<std::ptrdiff_t>(end));
  });
}

std::string describe(const Items& items, std::size_t index, const HarnessPort& port) {
  if (index >= items.size()) return "nothing more";
  const HarnessItem& item = items[index];
  if (item.is_watermark) return "watermark " + std::to_string(item.time);
  std::string text = port.print ? port.print(item.encoded) : describe_bytes(item.encoded);
  if (item.time != no_timestamp) text += " at " + std::to_string(item.time);
  return text;
}

}  // namespace

void HarnessRun::compare_port(std::size_t index) {
  static const HarnessPort nothing_expected;
  const HarnessPort& port = index < test_.ports.size() ? test_.ports[index] : nothing_expected;
  Items seen = std::move(seen_[index]);
  Items expected = port.expected;

  const auto is_watermark = [](const HarnessItem& item) { return item.is_watermark; };
  const auto is_timed = [](const HarnessItem& item) {
    return !item.is_watermark && item.time != no_timestamp;
  };
  if (std::none_of(expected.begin(), expected.end(), is_watermark)) {
    std::erase_if(seen, is_watermark);
  }
  if (std::none_of(expected.begin(), expected.end(), is_timed)) {
    for (HarnessItem& item : seen) {
      if (!item.is_watermark) item.time = no_timestamp;
    }
  }
  if (port.normalise) seen = normalised(seen, port);
  if (!port.ordered) {
    sort_segments(seen);
    sort_segments(expected);
  }
  if (test_.options.records_max != SIZE_MAX && seen.size() > expected.size()) {
    seen.resize(expected.size());
  }
  const std::size_t shared = std::min(seen.size(), expected.size());
  std::size_t at = 0;
  while (at < shared && seen[at] == expected[at]) ++at;
  if (at == seen.size() && at == expected.size()) return;
  violate("port " + std::to_string(index) + (port.ordered ? ", item " : ", item (sorted) ") +
          std::to_string(at) + " of " + std::to_string(expected.size()) + ": expected " +
          describe(expected, at, port) + ", got " + describe(seen, at, port) + " (" +
          std::to_string(seen.size()) + " items in all)");
}

void HarnessRun::compare_effects() {
  if (!test_.effects.read) return;
  const std::vector<std::string> seen = test_.effects.read();
  const std::vector<std::string>& expected = test_.effects.expected;
  std::size_t at = 0;
  while (at < seen.size() && at < expected.size() && seen[at] == expected[at]) ++at;
  if (at == seen.size() && at == expected.size()) return;
  const auto entry = [&](const std::vector<std::string>& list) {
    return at < list.size() ? describe_bytes(list[at]) : std::string("nothing more");
  };
  violate("effect " + std::to_string(at) + ": expected " + entry(expected) + ", got " +
          entry(seen));
}

}  // namespace hummer
