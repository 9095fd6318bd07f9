// The Yahoo streaming benchmark's views per advertisement and window, with every event whole on its
// way to the owner of its advertisement, over edges that are chosen (--transport, --credits,
// --buffer-bytes), also for the results: --count events of 78 bytes, --keys advertisements,
// --windows windows. Each line of --output has an advertisement, a window, and of it the events,
// the views, and a checksum of all bytes of the events.
#include <hummer/hummer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "edge_arguments.hpp"
#include "stateful/workload.hpp"

namespace {

using stateful::AdEvent;
using windows::mixed;

struct Totals {
  std::uint64_t events = 0;
  std::uint64_t views = 0;
  std::uint64_t checksum = 0;
};

template <std::size_t N>
std::uint64_t with_text(std::uint64_t sum, const std::array<char, N>& text) {
  for (std::size_t at = 0; at < N; at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, N - at));
    sum = mixed(sum ^ word);
  }
  return sum;
}

std::uint64_t checksum_of(const AdEvent& event) {
  std::uint64_t sum = mixed(event.ad) + static_cast<std::uint64_t>(event.time_ms);
  sum = with_text(sum, event.user);
  sum = with_text(sum, event.page);
  sum = with_text(sum, event.address);
  sum = with_text(sum, event.session);
  return mixed(sum ^ (static_cast<std::uint64_t>(event.ad_type) << 8 |
                      static_cast<std::uint64_t>(event.kind)));
}

struct AddUp {
  using Accumulator = Totals;
  using Result = Totals;
  void add(Totals& totals, bool, const AdEvent& event) const {
    ++totals.events;
    totals.views += event.kind == stateful::AdEventKind::view ? 1 : 0;
    totals.checksum += checksum_of(event);
  }
  void merge(Totals& totals, bool, const Totals& other) const {
    totals.events += other.events;
    totals.views += other.views;
    totals.checksum += other.checksum;
  }
  Totals result(const Totals& totals) const { return totals; }
};

}  // namespace

void ad_views(hummer::StreamExecutionEnvironment& env) {
  constexpr std::int64_t window_ms = 10'000;
  const std::uint64_t count = std::stoull(env.argument_or("count", "100000", "events"));
  const std::uint64_t keys = std::stoull(env.argument_or("keys", "1000", "advertisements"));
  const std::uint64_t windows = std::stoull(env.argument_or("windows", "10", "windows"));
  const stateful::Scale scale{.records = count,
                              .keys = keys,
                              .records_per_window = std::max<std::uint64_t>(1, count / windows),
                              .window_ms = window_ms};
  const stateful::TimeOfIndex time_of(scale);
  const stateful::KeyOfIndex key_of(scale, stateful::Distribution::uniform);
  const hummer::NetworkSettings edge = edge_of_arguments(env);
  env.generate(hummer::rebuildable(stateful::AdEventOfIndex{key_of, time_of}, count, keys, windows),
               {.count = count}, time_of)
      .network(edge)
      .key_by(&AdEvent::ad)
      .window(hummer::TumblingWindows::of(window_ms))
      .strategy(hummer::WindowStrategy::repartition)
      .aggregate(AddUp())
      .network(edge)
      .write_file(env.argument("output"));
  env.execute("AdViews");
}

HUMMER_JOB(ad_views)
