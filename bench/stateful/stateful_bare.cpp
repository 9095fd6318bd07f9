// stateful_bare --row ROW [--threads 1|2] [--local] [--projected] [--records N] [--keys N]
//   [--records-per-window N] [--distribution rounds|uniform|zipf|changing]
//
// A row of keyed state without an engine: the same input, the same results, the best loops that we
// know. With two threads each makes half of the records and owns half of the keys; with --local
// each aggregates what it makes, and the halves are merged where results go out (count, ysb,
// nexmark7, cm).
// --projected keeps of a record only what the join's function uses (nexmark8). One line of JSON.
#include <cstdlib>
#include <map>

#include "bare.hpp"

namespace {

struct Built {
  std::string_view row;
  double (*run)(stateful::bare::Run&);
  bool may_be_local = false;
};
constexpr Built all[] = {
    {"count", stateful::bare::count, true},
    {"function", stateful::bare::function},
    {"nexmark8", stateful::bare::nexmark8},
    {"nexmark11", stateful::bare::nexmark11},
    {"ysb", stateful::bare::ysb, true},
    {"nexmark7", stateful::bare::nexmark7, true},
    {"cm", stateful::bare::cm, true},
    {"async_map", stateful::bare::async_map},
    {"interval_join", stateful::bare::interval_join},
    {"co_group", stateful::bare::co_group},
    {"sessions", stateful::bare::sessions},
    {"top_n", stateful::bare::top_n},
    {"deduplicate", stateful::bare::deduplicate},
    {"count_window", stateful::bare::count_window},
    {"trigger", stateful::bare::trigger},
    {"broadcast", stateful::bare::broadcast},
};

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool is_flag = name == "--local" || name == "--projected";
    words[name] = is_flag ? "yes" : i + 1 < argc ? argv[++i] : "";
  }
  try {
    const unsigned threads =
        words["--threads"].empty() ? 1 : static_cast<unsigned>(std::stoul(words["--threads"]));
    if (threads < 1 || threads > stateful::bare::threads_max) {
      throw std::invalid_argument("--threads takes 1 or 2");
    }
    stateful::bare::Run run{
        .row = stateful::row_of(words["--row"], words["--records"], words["--keys"],
                                words["--records-per-window"], words["--distribution"]),
        .threads = threads,
        .local = !words["--local"].empty()};
    for (const Built& one : all) {
      if (one.row != run.row.name) continue;
      if (run.local && !one.may_be_local) {
        throw std::invalid_argument("--local is for count, ysb, nexmark7 and cm");
      }
      const bool projected = !words["--projected"].empty();
      if (projected && one.row != "nexmark8") {
        throw std::invalid_argument("--projected is for nexmark8");
      }
      const std::int64_t begin = stateful::bare::nanoseconds();
      const double seconds = projected ? stateful::bare::nexmark8_projected(run) : one.run(run);
      const stateful::Scale& scale = run.row.scale;
      const bool warm = run.warm_at != 0;
      const double fill = static_cast<double>(run.warm_at - begin) / 1e9;
      stateful::report("bare", run.row, seconds, warm ? scale.records - scale.keys : 0,
                       warm ? seconds - fill : 0, run.total);
    }
    return 0;
  } catch (const std::logic_error& wrong) {
    std::fprintf(stderr, "stateful_bare: %s\n", wrong.what());
    return 2;
  }
}
