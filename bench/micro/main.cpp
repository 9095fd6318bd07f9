// micro_hummer --job chain|channel|latency: one binary for throughput and latency alike, with
// the engine's defaults. `run` runs each beside its hand-written counterpart (micro_handwritten).
#include <cstdio>

#include "jobs.hpp"

int main(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::string job = env.argument_or("job", "chain", "chain, channel or latency");
  if (job == "chain") return micro::run_chain(env);
  if (job == "channel") return micro::run_channel(env);
  if (job == "latency") return micro::run_latency(env);
  std::fprintf(stderr, "micro_hummer: --job is chain, channel or latency\n");
  return 2;
}
