// mistake: A source of records of another type
// group: Sources and sinks
// error: from_source: the second argument must be a function without parameters that returns a
//   std::unique_ptr to a hummer::SourceFunction<T> (Contract)
// names: from_source
#include <hummer/hummer.hpp>

struct Order {
  std::int64_t id;
  std::string item;
  std::int64_t cents;
  std::int64_t time_ms;
};

struct Ticks : hummer::SourceFunction<std::int64_t> {
  hummer::OperatorResult produce(hummer::SourceOutput<std::int64_t>&) override {
    return hummer::OperatorResult::done;
  }
};

#ifdef MISTAKE
void build(hummer::StreamExecutionEnvironment& env) {
  env.from_source<Order>("ticks", [] { return std::make_unique<Ticks>(); }, true).print();
}
#else
void build(hummer::StreamExecutionEnvironment& env) {
  env.from_source<std::int64_t>("ticks", [] { return std::make_unique<Ticks>(); }, true).print();
}
#endif
