// mistake: A generator that does not take the index
// group: Sources and sinks
// error: generate: its function must take an index, std::uint64_t, and return the record of that
//   index
// names: generate
#include <hummer/hummer.hpp>

#ifdef MISTAKE
void build(hummer::StreamExecutionEnvironment& env) {
  env.generate([] { return 7; }, {.count = 10}).print();
}
#else
void build(hummer::StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t) { return 7; }, {.count = 10}).print();
}
#endif
