// The jobs of this folder; each builds its streams, runs them and reports. See their files.
#pragma once

#include <hummer/environment.hpp>

namespace micro {

int run_chain(hummer::StreamExecutionEnvironment& env);
int run_channel(hummer::StreamExecutionEnvironment& env);
int run_latency(hummer::StreamExecutionEnvironment& env);

}  // namespace micro
