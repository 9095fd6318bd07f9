// Structs and optional ones in state, for the warnings that compilers find while they optimise,
// such as -Wmaybe-uninitialized. (The others are looked for by compile_fail/check_mistakes.py, in
// compile_fail/public_api.hpp, which takes a minute to optimise.)
#include <hummer/hummer.hpp>

namespace {

struct Place {
  double x;
  double y;
};
struct Visit {
  std::uint64_t id;
  std::optional<Place> place;
  std::optional<std::string> name;
};

struct Remember {
  hummer::ValueState<Visit> visit{"visit"};
  hummer::ValueState<std::optional<Place>> place{"place"};
  hummer::ListState<std::optional<Place>> places{"places"};
  hummer::MapState<std::string, std::optional<Place>> by_name{"by_name"};

  void process(const Visit& next, hummer::KeyedOutput<Visit>& out) {
    Visit before = visit.get_or({});
    before.place = next.place;
    visit.set(before);
    visit.update({}, [&](Visit& last) { last.name = next.name; });
    place.set(next.place);
    place.update({}, [](std::optional<Place>& last) {
      if (last) last->x += 1;
    });
    places.add(next.place);
    if (next.name) by_name.put(*next.name, next.place);
    if (const std::optional<Place> last = place.get_or({})) out.emit({next.id, *last, {}});
  }
};

}  // namespace

void build(const hummer::DataStream<std::uint64_t>& numbers) {
  numbers.map([](std::uint64_t id) { return Visit{id, Place{1, 2}, std::nullopt}; })
      .key_by([](const Visit& visit) { return std::to_string(visit.id); })
      .process(Remember{})
      .print();
}
