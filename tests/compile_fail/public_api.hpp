// Most of the public API in one job, for check_mistakes.py: our headers are system headers to
// nobody here, and compilers must have nothing to say of them.
#include <hummer/files.hpp>
#include <hummer/hummer.hpp>

namespace public_api {
namespace {

using namespace hummer;

struct Place {
  double x;
  double y;
};
struct Trip {
  std::uint64_t id;
  std::string driver;
  std::int64_t cents;
  Timestamp time_ms;
  std::optional<Place> begin;
  std::vector<Place> stops;
};
struct Leg {
  std::uint64_t trip;
  std::optional<double> km;
};

constexpr SideOutput<Trip> cheap{"cheap"};
constexpr SideOutput<Trip> late{"late"};

Trip make_trip(std::uint64_t index) {
  return {index, "driver", static_cast<std::int64_t>(index % 7), static_cast<Timestamp>(index),
          {},    {}};
}

// Its states hold structs, optional ones, and what is made of them.
struct Watch {
  ValueState<Place> last{"last"};
  ValueState<std::optional<Place>> perhaps{"perhaps"};
  ValueState<Trip> trip{"trip"};
  ListState<std::optional<Place>> all{"all", {.ttl_ms = 1'000}};
  MapState<std::string, std::optional<Place>> by_driver{"by_driver"};
  ReducingState<std::int64_t, std::plus<>> sum{"sum"};
  AggregatingState<CountAggregate> count{"count"};

  void process(const Trip& next, KeyedOutput<Leg>& out) {
    perhaps.set(next.begin);
    if (next.begin) last.set(*next.begin);
    all.add(next.begin);
    by_driver.put(next.driver, next.begin);
    sum.add(next.cents);
    count.add(next);
    trip.set(next);
    out.emit({next.id, 1.5});
    out.set_event_timer(next.time_ms + 10);
    out.set_processing_timer(out.processing_time() + 10);
  }
  void on_timer(Timestamp, KeyedOutput<Leg>& out) {
    const std::optional<Place> before = perhaps.get_or({});
    out.emit({count.result().value_or(0), before ? std::optional(before->x) : std::nullopt});
    by_driver.for_each([&](const std::string&, const std::optional<Place>& place) {
      if (place) out.emit(Leg{0, place->y});
    });
    trip.clear();
  }
  void on_processing_timer(Timestamp, KeyedOutput<Leg>&) { all.clear(); }
};

struct Split {
  SideOutputPorts side_outputs() const { return hummer::side_outputs(cheap); }
  void process(const Trip& trip, ProcessOutput<Leg>& out) {
    if (trip.cents < 3) return out.side(cheap, trip);
    out.emit({trip.id, {}});
  }
  void end(ProcessOutput<Leg>& out) { out.emit({0, 0.0}); }
};

struct Match {
  ListState<Trip> first{"first"};
  void process_first(const Trip& trip, KeyedOutput<Leg>&) { first.add(trip); }
  void process_second(const Leg& leg, KeyedOutput<Leg>& out) {
    if (!first.empty()) out.emit(leg);
  }
};

struct Judge {
  BroadcastState<std::uint64_t, std::optional<Place>> rules{"rules"};
  void process(const Trip& trip, KeyedOutput<Leg>& out) {
    const std::optional<Place>* const rule = rules.find(trip.id);
    if (rule != nullptr && *rule) out.emit({trip.id, (*rule)->x});
  }
  void process_broadcast(const Leg& leg, BroadcastOutput<Leg>& out) {
    out.state(rules).put(leg.trip, std::optional(Place{1, 2}));
  }
};

struct Farthest {
  using Accumulator = std::optional<Place>;
  using Result = std::optional<Place>;
  void add(Accumulator& most, bool, const Trip& trip) const {
    if (trip.begin && (!most || most->x < trip.begin->x)) most = trip.begin;
  }
  void merge(Accumulator& most, bool, const Accumulator& other) const {
    if (other && (!most || most->x < other->x)) most = other;
  }
  Result result(const Accumulator& most) const { return most; }
};

class Shelf : public SinkFunction<Leg> {
 public:
  OperatorResult write(std::span<const Leg>) override { return OperatorResult::done; }
};
class Ticks : public SourceFunction<Leg> {
 public:
  OperatorResult produce(SourceOutput<Leg>& out) override {
    out.emit({7, {}});
    return OperatorResult::done;
  }
};

void write_trips(StreamExecutionEnvironment& env) {
  const auto trips =
      env.generate(make_trip, {.count = 100})
          .assign_timestamps(&Trip::time_ms, WatermarkStrategy::bounded(10).with_idleness(100));
  const auto by_driver = trips.key_by(&Trip::driver);

  by_driver.process(Watch{}).print();
  const auto legs = trips.process(Split{});
  legs.side_output(cheap).filter([](const Trip& trip) { return trip.cents == 1; }).print();
  trips.key_by(&Trip::id).connect(legs.key_by(&Leg::trip)).process(Match{}).print();
  trips.key_by(&Trip::id).connect(legs.broadcast()).process(Judge{}).print();

  by_driver.count().write_file("counts");
  write_files(follow_files(env, "in").lines(), "out");
  write_files(trips.map([](const Trip& trip) { return trip.cents; }), "cents", {.roll_ms = 1'000},
              [](std::int64_t cents) { return cents > 0 ? "paid" : "free"; });
  by_driver.sum(&Trip::cents, Emit::every_record).print();
  by_driver.aggregate("farthest", Farthest{}).print();
  by_driver.reduce([](const Trip& a, const Trip& b) { return a.cents < b.cents ? a : b; }).print();
  by_driver.deduplicate(1'000).print();
  by_driver.top_n(3, &Trip::cents, 60'000).print();

  by_driver.window(TumblingWindows::of(60'000)).late_output(late).count().side_output(late).print();
  by_driver.window(SlidingWindows::of(60'000, 1'000)).aggregate(Farthest{}).print();
  by_driver.window(SessionWindows::with_gap(100)).sum(&Trip::cents).print();
  by_driver.window(CountWindows::of(10)).max(&Trip::cents).print();
  by_driver.window(GlobalWindows{})
      .trigger(CountTrigger::of(5))
      .process([](const std::string&, TimeWindow, std::span<const Trip> all,
                  Collector<std::optional<Place>>& out) { out(all.front().begin); })
      .print();
  trips.window_all(TumblingWindows::of(60'000)).count().print();

  const auto by_id = trips.key_by(&Trip::id);
  by_id.join(legs.key_by(&Leg::trip))
      .window(TumblingWindows::of(60'000))
      .apply([](const Trip& trip, const Leg& leg) { return Leg{trip.id, leg.km}; })
      .print();
  by_id.interval_join(legs.key_by(&Leg::trip))
      .between(-10, 10)
      .apply([](const Trip& trip, const Leg& leg) { return Leg{trip.id, leg.km}; })
      .print();
  legs.union_with(env.from_source<Leg>(
                      "ticks", [] { return std::make_unique<Ticks>(); }, true))
      .add_sink("shelf", [] { return std::make_unique<Shelf>(); });
}

void read_words(StreamExecutionEnvironment& env) {
  env.from_file("words")
      .flat_map([](std::string_view line, Collector<std::pair<std::string_view, int>>& out) {
        out({line, 1});
      })
      .key_by([](const auto& each) { return each.first; })
      .count()
      .for_each([](const auto& each) { std::printf("%llu\n", 0ull + each.value); });
  env.from_collection(std::vector<std::string>{"a", "b"})
      .async_map([](std::string_view text, AsyncResult<std::optional<Place>> result) {
        result.complete(Place{static_cast<double>(text.size()), 0});
      })
      .map([](const std::optional<Place>& place) { return place ? place->x : 0; })
      .print();
}

}  // namespace

void build(StreamExecutionEnvironment& env) {
  write_trips(env);
  read_words(env);
}

}  // namespace public_api
