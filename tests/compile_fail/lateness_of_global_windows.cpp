// error: no record is late in CountWindows or GlobalWindows: leave out allowed_lateness
#include <hummer/hummer.hpp>

void build(hummer::StreamExecutionEnvironment& env) {
  env.from_collection(std::vector<int>{1, 2})
      .key_by(hummer::identity)
      .window(hummer::GlobalWindows{})
      .allowed_lateness(100)
      .count();
}
