// mistake: A source without its produce
// group: Sources and sinks
// error: abstract class type
// measure: the compiler's own
// names: produce, Ticks
#include <hummer/hummer.hpp>

#ifdef MISTAKE
struct Ticks : hummer::SourceFunction<std::int64_t> {
  hummer::OperatorResult next(hummer::SourceOutput<std::int64_t>&) {
    return hummer::OperatorResult::done;
  }
};
#else
struct Ticks : hummer::SourceFunction<std::int64_t> {
  hummer::OperatorResult produce(hummer::SourceOutput<std::int64_t>&) override {
    return hummer::OperatorResult::done;
  }
};
#endif

void build(hummer::StreamExecutionEnvironment& env) {
  env.from_source<std::int64_t>("ticks", [] { return std::make_unique<Ticks>(); }, true).print();
}
