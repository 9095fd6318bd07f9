// error: no record is late in CountWindows or GlobalWindows: leave out late_output
#include <hummer/hummer.hpp>

constexpr hummer::SideOutput<int> late{"late"};

void build(hummer::StreamExecutionEnvironment& env) {
  env.from_collection(std::vector<int>{1, 2})
      .key_by(hummer::identity)
      .window(hummer::CountWindows::of(2))
      .late_output(late)
      .count();
}
