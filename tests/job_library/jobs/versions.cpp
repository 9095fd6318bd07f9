// A job in two versions, by VERSION: equal names and types, other behaviour. What it writes tells
// which code ran: user functions, what they count, static variables, inline functions and a type of
// its own.
#include <hummer/hummer.hpp>

struct Item {
  std::uint64_t number;
  std::uint64_t version;
};

inline int& calls_of_this_version() {
  static int calls = 0;
  return calls;
}

inline std::uint64_t scale(std::uint64_t number) { return number * (VERSION == 1 ? 10 : 1000); }

void versions(hummer::StreamExecutionEnvironment& env) {
  const int call = ++calls_of_this_version();
  hummer::GeneratorOptions three{.count = 3};
  if (env.flag("slowly")) three.records_per_second = 0.4;  // so that jobs overlap
  env.generate([](std::uint64_t index) { return Item{scale(index), VERSION}; }, three)
      .parallelism(1)
      .map([made = hummer::Counter("made")](const Item& item) {
        made.add();
        return "version " + std::to_string(item.version) + ": " + std::to_string(item.number);
      })
      .write_file(env.argument("output"));
  env.execute("Versions, call " + std::to_string(call));
}

HUMMER_JOB(versions)
