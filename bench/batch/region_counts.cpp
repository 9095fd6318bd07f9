// Counts of the words of --input in two regions: what reads and cuts the text ends with a blocking
// edge, and what counts behind it takes at least --pause-us for each word that it has met, so that
// the second region can be struck while it runs. One line per word, in the parts of --output. With
// --dealt the sinks get lines of all that count, so that these may be fewer (--bytes-per-subtask).
#include <hummer/hummer.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

namespace {

// A pause for several at once, as a shorter one takes longer than it should.
constexpr int words_per_pause = 64;

using Counted = hummer::KeyValue<std::string_view, std::uint64_t>;

}  // namespace

void region_counts(hummer::StreamExecutionEnvironment& env) {
  const int sinks = std::stoi(env.argument("sinks", "as many as the default parallelism"));
  const std::int64_t pause_us = std::stoll(env.argument_or("pause-us", "0", "per word"));
  const bool dealt = env.flag("dealt", "lines go to the sinks in turn");
  const auto counts =
      env.from_file(env.argument("input"))
          .flat_map(hummer::split_words)
          .network({.exchange = hummer::ExchangeMode::blocking})
          .key_by(hummer::identity)
          .count()
          .filter(hummer::rebuildable([pause_us, met = 0](const Counted&) mutable {
            if (++met % words_per_pause == 0) {
              std::this_thread::sleep_for(std::chrono::microseconds(pause_us * words_per_pause));
            }
            return true;
          }));
  (dealt ? counts.rebalance() : counts.forward())
      .write_file(env.argument("output"))
      .parallelism(sinks);
  env.execute("RegionCounts");
}

HUMMER_JOB(region_counts)
