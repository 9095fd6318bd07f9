// Volume per symbol of the trades in CSV files:
//
//   trades --input trades.csv --output volumes.csv
//
// Lines that are no trades go to the file `bad`, with their places and reasons.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hummer/formats/csv.hpp>
#include <hummer/hummer.hpp>

struct Trade {
  std::string_view symbol;  // of the line itself; a std::string would be a copy
  double price = 0;
  std::int64_t size = 0;
  std::optional<std::string_view> note;
};

struct Volume {
  std::string_view symbol;
  std::int64_t size = 0;
};

constexpr hummer::SideOutput<hummer::FailedRecord<std::string_view>> bad{"bad lines"};

void trades(hummer::StreamExecutionEnvironment& env) {
  const auto all = hummer::formats::from_csv<Trade>(env, env.argument("input"))
                       .on_failure(hummer::failures_to(bad));
  all.side_output(bad).write_file(env.argument_or("bad", "bad"));
  const auto volumes = all.filter([](const Trade& trade) { return trade.price > 0; })
                           .key_by(&Trade::symbol)
                           .sum(&Trade::size)
                           .map([](const auto& sum) { return Volume{sum.key, sum.value}; });
  hummer::formats::write_csv(volumes, env.argument("output"));
  env.execute("Trades");
}

HUMMER_JOB(trades)
