// stateful_hummer --row ROW [--records N] [--keys N] [--records-per-window N]
//   [--distribution rounds|uniform|zipf|changing] [--strategy automatic|late_merge|repartition]
//
// A row of keyed state as a job through the public API; one line of JSON at the end. The engine's
// own options, such as --parallelism, apply. `seconds` is that of the whole job. Where the keys
// come in rounds, `warm_seconds` begins with the second one, when the state has all keys.
#include <string>

#include "stateful_hummer.hpp"

namespace {

struct Built {
  std::string_view row;
  void (*build)(stateful::Job&);
};
constexpr Built all[] = {
    {"count", stateful::build_count},
    {"function", stateful::build_function},
    {"nexmark8", stateful::build_nexmark8},
    {"nexmark11", stateful::build_nexmark11},
    {"ysb", stateful::build_ysb},
    {"nexmark7", stateful::build_nexmark7},
    {"cm", stateful::build_cm},
    {"async_map", stateful::build_async_map},
    {"interval_join", stateful::build_interval_join},
    {"co_group", stateful::build_co_group},
    {"sessions", stateful::build_sessions},
    {"top_n", stateful::build_top_n},
    {"deduplicate", stateful::build_deduplicate},
    {"count_window", stateful::build_count_window},
    {"trigger", stateful::build_trigger},
    {"broadcast", stateful::build_broadcast},
};

hummer::WindowStrategy strategy_of(const std::string& name) {
  if (name == "automatic") return hummer::WindowStrategy::automatic;
  if (name == "late_merge") return hummer::WindowStrategy::late_merge;
  if (name == "repartition") return hummer::WindowStrategy::repartition;
  throw std::invalid_argument("--strategy takes automatic, late_merge or repartition");
}

}  // namespace

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  stateful::SharedChecksum total;
  std::atomic<std::int64_t> warm_at{0};
  try {
    const hummer::WindowStrategy strategy = strategy_of(env.argument_or("strategy", "automatic"));
    env.options().window_strategy = strategy;  // of running counts
    stateful::Job job{.env = env,
                      .row = stateful::row_of(
                          env.argument("row", "what is computed"), env.argument_or("records", ""),
                          env.argument_or("keys", ""), env.argument_or("records-per-window", ""),
                          env.argument_or("distribution", "")),
                      .strategy = strategy,
                      .total = total,
                      .warm_at = warm_at};
    for (const Built& one : all) {
      if (one.row == job.row.name) one.build(job);
    }
    const std::int64_t begin = stateful::nanoseconds();
    const hummer::JobResult result = env.execute(std::string(job.row.name));
    if (!result.ok()) return result.exit_code();
    const double fill_seconds = static_cast<double>(warm_at - begin) / 1e9;
    const bool warm = job.has_warm_part();
    const stateful::Scale& scale = job.scale();
    stateful::report("hummer", job.row, result.seconds, warm ? scale.records - scale.keys : 0,
                     warm ? result.seconds - fill_seconds : 0, total);
    return 0;
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "stateful_hummer: %s\n", wrong.what());
    return 2;
  }
}
