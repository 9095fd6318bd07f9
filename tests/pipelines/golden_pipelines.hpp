// The pipelines that have golden files (data/golden/, written by make_golden.py): for
// golden_test.cpp, which runs them embedded, and for the job library golden_job.cpp, which goes to
// clusters.
//
// A line of text in, lines of text out. Thread: any.
#pragma once

#include <hummer/hummer.hpp>

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hummer {

struct GoldenReading {
  Timestamp time;
  bool left;
  std::string key;
  std::int64_t value;
};

inline GoldenReading parse_golden_reading(std::string_view line) {
  std::istringstream fields{std::string(line)};
  GoldenReading reading;
  std::string side;
  fields >> reading.time >> side >> reading.key >> reading.value;
  reading.left = side == "a";
  return reading;
}

// Sums by stretches of 200 ms, each told by its timer.
struct GoldenSumByTimer {
  MapState<Timestamp, std::int64_t> sums{"sums"};
  void process(const GoldenReading& reading, KeyedOutput<std::string>& out) {
    const Timestamp start = reading.time / 200 * 200;
    sums.update(start, 0, [&](std::int64_t& sum) { sum += reading.value; });
    out.set_event_timer(start + 200);
  }
  void on_timer(Timestamp end, KeyedOutput<std::string>& out) {
    out.emit(std::string(out.key<std::string_view>()) + "\t" + std::to_string(end - 200) + "\t" +
             std::to_string(end) + "\t" + std::to_string(*sums.find(end - 200)));
    sums.remove(end - 200);
  }
};

inline std::string golden_pair_line(const GoldenReading& a, const GoldenReading& b) {
  std::ostringstream line;
  line << a.key << '\t' << a.time << '\t' << a.value << '\t' << b.time << '\t' << b.value;
  return line.str();
}

// invalid_argument is thrown when there is no such pipeline.
inline void build_golden_pipeline(const std::string& pipeline,
                                  const DataStream<GoldenReading>& readings,
                                  const std::string& output) {
  const auto keyed = readings.key_by(&GoldenReading::key);
  // Only joins read the halves, and a stream that nobody reads is a mistake.
  const auto left = [&] {
    return readings.filter([](const GoldenReading& reading) { return reading.left; })
        .key_by(&GoldenReading::key);
  };
  const auto right = [&] {
    return readings.filter([](const GoldenReading& reading) { return !reading.left; })
        .key_by(&GoldenReading::key);
  };
  if (pipeline == "totals") {
    keyed.count().uid("totals").write_file(output);
  } else if (pipeline == "tumbling") {
    keyed.window(TumblingWindows::of(100)).sum(&GoldenReading::value).write_file(output);
  } else if (pipeline == "sliding") {
    keyed.window(SlidingWindows::of(100, 20)).sum(&GoldenReading::value).write_file(output);
  } else if (pipeline == "sessions") {
    keyed.window(SessionWindows::with_gap(40)).count().write_file(output);
  } else if (pipeline == "window_join") {
    left().join(right()).window(TumblingWindows::of(60)).apply(golden_pair_line).write_file(output);
  } else if (pipeline == "interval_join") {
    left().interval_join(right()).between(-20, 30).apply(golden_pair_line).write_file(output);
  } else if (pipeline == "timers") {
    keyed.process(GoldenSumByTimer{}).write_file(output);
  } else if (pipeline == "top_n") {
    keyed
        .top_n(
            3, [](const GoldenReading& reading) { return std::pair(reading.value, reading.time); },
            250)
        .map([](const Ranked<GoldenReading>& ranked) {
          return std::tuple(ranked.record.key, ranked.window_start, ranked.rank,
                            ranked.record.value, ranked.record.time);
        })
        .write_file(output);
  } else if (pipeline == "distinct") {
    readings
        .map(
            [](const GoldenReading& reading) { return std::pair(reading.key, reading.value % 10); })
        .key_by(identity)
        .deduplicate()
        .write_file(output);
  } else {
    throw std::invalid_argument("there is no pipeline '" + pipeline + "'");
  }
}

}  // namespace hummer
