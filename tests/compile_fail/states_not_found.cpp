// mistake: States of a function with a base class
// group: Process functions
// error: process: the states of a function with a base class or an array are not found by
// themselves:
//   list them, auto states() { return hummer::states(last, count); }
// names: process, Watch
#include <hummer/hummer.hpp>

struct Limits {
  std::int64_t least = 0;
};

#ifdef MISTAKE
struct Watch : Limits {
  hummer::ValueState<std::int64_t> last{"last"};
  void process(std::int64_t cents, hummer::KeyedOutput<std::int64_t>& out) {
    if (cents > last.get_or(least)) out.emit(cents);
    last.set(cents);
  }
};
#else
struct Watch : Limits {
  hummer::ValueState<std::int64_t> last{"last"};
  auto states() { return hummer::states(last); }
  void process(std::int64_t cents, hummer::KeyedOutput<std::int64_t>& out) {
    if (cents > last.get_or(least)) out.emit(cents);
    last.set(cents);
  }
};
#endif

void build(const hummer::DataStream<std::int64_t>& prices) {
  prices.key_by(hummer::identity).process(Watch{}).print();
}
