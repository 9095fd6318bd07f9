// The schedules of the operator harness.
#include <hummer/testing/operator_harness.hpp>

#include <algorithm>

#include "testing/harness_run.hpp"

namespace hummer {

std::string HarnessSchedule::describe() const {
  std::string text = "output limit " + std::to_string(soft_limit);
  text += one_record_per_batch ? ", one record per batch" : ", all records in one batch";
  if (split_at != 0) text += " but split before element " + std::to_string(split_at);
  if (shared_input) text += ", shared input";
  if (output_after_more) text += ", output taken only after more";
  if (pauses) text += ", pauses";
  if (between == Between::nothing) return text;
  static constexpr const char* names[] = {"",
                                          "idle",
                                          "flush",
                                          "snapshot and restore",
                                          "flush, snapshot and restore",
                                          "snapshots in steps, restored"};
  text += std::string(", ") + names[static_cast<int>(between)];
  return text + (between_at == everywhere ? " everywhere"
                                          : " before element " + std::to_string(between_at));
}

namespace {

constexpr std::uint32_t soft_limits[] = {1, 2, 3, default_batch_records};

// Under sanitizers every run takes some thirty times as long, so less than all the places are
// taken.
#if !defined(__has_feature)
constexpr std::size_t most_places = SIZE_MAX;
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::size_t most_places = 6;
#else
constexpr std::size_t most_places = SIZE_MAX;
#endif

// Up to `most` of the positions 1 .. count - 1.
std::vector<std::size_t> positions(std::size_t count, std::size_t most) {
  std::vector<std::size_t> result;
  most = std::clamp<std::size_t>(most, 1, most_places);
  const std::size_t step = std::max<std::size_t>(1, (count + most - 1) / most);
  for (std::size_t at = 1; at < count; at += step) result.push_back(at);
  return result;
}

std::vector<HarnessSchedule::Between> interruptions(const HarnessOptions& options) {
  using Between = HarnessSchedule::Between;
  std::vector<Between> result{Between::idle, Between::flush};
  if (options.with_snapshots) result.push_back(Between::flush_and_snapshot);
  if (options.with_snapshots && !options.state_only_by_flush) result.push_back(Between::snapshot);
  return result;
}

std::vector<HarnessSchedule> operator_schedules(const HarnessCase& test) {
  std::vector<HarnessSchedule> schedules;
  const std::size_t count = test.elements.size();
  const auto splits = positions(count, test.options.positions_max);
  for (const std::uint32_t limit : soft_limits) {
    for (int bits = 0; bits < 8; ++bits) {
      HarnessSchedule schedule;
      schedule.soft_limit = limit;
      schedule.output_after_more = (bits & 1) != 0;
      schedule.shared_input = (bits & 2) != 0;
      schedule.pauses = (bits & 4) != 0;
      schedules.push_back(schedule);
      schedule.one_record_per_batch = true;
      schedules.push_back(schedule);
      schedule.one_record_per_batch = false;
      for (const std::size_t at : splits) {
        schedule.split_at = at;
        schedules.push_back(schedule);
      }
    }
  }
  std::vector<std::size_t> places = splits;
  places.insert(places.end(), {0, count, HarnessSchedule::everywhere});
  for (const auto between : interruptions(test.options)) {
    for (const std::uint32_t limit : {1u, default_batch_records}) {
      for (const std::size_t at : places) {
        for (const bool after_more : {false, true}) {
          HarnessSchedule schedule;
          schedule.soft_limit = limit;
          schedule.between = between;
          schedule.between_at = at;
          schedule.output_after_more = after_more;
          schedules.push_back(schedule);
        }
      }
    }
  }
  // Every element has a snapshot before it, a delta where the operator writes any, which goes on
  // while the element is worked off; before one of them the operator fails.
  const bool in_steps = test.options.with_snapshots && !test.options.state_only_by_flush &&
                        !test.effects.read && test.expected_failure.empty();
  for (const std::uint32_t limit : {1u, default_batch_records}) {
    for (std::size_t at = 0; in_steps && at < count; at += at < 12 ? 1 : 1 + count / 16) {
      for (const bool one_record : {false, true}) {
        HarnessSchedule schedule;
        schedule.soft_limit = limit;
        schedule.between = HarnessSchedule::Between::snapshots_in_steps;
        schedule.between_at = at;
        schedule.one_record_per_batch = one_record;
        schedules.push_back(schedule);
      }
    }
  }
  return schedules;
}

// How the records of two inputs follow each other between two watermarks.
enum class Interleaving { as_written, first_input_first, second_input_first, in_turn };

HarnessCase interleaved(const HarnessCase& test, Interleaving order) {
  HarnessCase result = test;
  if (order == Interleaving::as_written) return result;
  result.elements.clear();
  std::vector<HarnessElement> waiting[2];
  const auto let_out = [&] {
    std::size_t taken[2] = {0, 0};
    int turn = order == Interleaving::second_input_first ? 1 : 0;
    while (taken[0] < waiting[0].size() || taken[1] < waiting[1].size()) {
      if (taken[turn] == waiting[turn].size()) turn = 1 - turn;
      result.elements.push_back(waiting[turn][taken[turn]++]);
      if (order == Interleaving::in_turn) turn = 1 - turn;
    }
    waiting[0].clear();
    waiting[1].clear();
  };
  for (const HarnessElement& element : test.elements) {
    if (element.kind == HarnessElement::Kind::record) {
      waiting[element.input].push_back(element);
    } else {
      let_out();
      result.elements.push_back(element);
    }
  }
  let_out();
  return result;
}

std::string explain(const HarnessSchedule& schedule, const std::string& violation) {
  return "under the schedule \"" + schedule.describe() + "\": " + violation;
}

}  // namespace

HarnessReport run_operator_harness(const HarnessCase& test) {
  // The first run is the mildest one and measures how much one record gives.
  HarnessSchedule mild;
  mild.one_record_per_batch = true;
  std::size_t expansion = test.options.expansion_max;
  HarnessRun first(test, mild, expansion == 0 ? SIZE_MAX / 2 : expansion);
  std::string violation = first.run_operator();
  if (!violation.empty()) return {1, explain(mild, violation)};
  if (expansion == 0) expansion = first.largest_expansion();

  std::size_t runs = 1;
  std::vector<Interleaving> orders{Interleaving::as_written};
  if (test.options.any_interleaving) {
    orders.insert(orders.end(), {Interleaving::first_input_first, Interleaving::second_input_first,
                                 Interleaving::in_turn});
  }
  for (const Interleaving order : orders) {
    const HarnessCase ordered = interleaved(test, order);
    for (const HarnessSchedule& schedule : operator_schedules(ordered)) {
      ++runs;
      violation = HarnessRun(ordered, schedule, expansion).run_operator();
      if (!violation.empty()) {
        static constexpr const char* names[] = {"", "first input first, ", "second input first, ",
                                                "inputs in turn, "};
        return {runs, names[static_cast<int>(order)] + explain(schedule, violation)};
      }
    }
  }
  return {runs, {}};
}

HarnessReport run_source_harness(const HarnessCase& test) {
  using Between = HarnessSchedule::Between;
  std::vector<HarnessSchedule> schedules;
  for (const std::uint32_t limit : soft_limits) {
    for (const bool pauses : {false, true}) {
      HarnessSchedule schedule;
      schedule.soft_limit = limit;
      schedule.pauses = pauses;
      schedules.push_back(schedule);
      if (!test.options.with_snapshots) continue;
      schedule.between = Between::flush_and_snapshot;
      schedules.push_back(schedule);
      for (std::size_t call = 1; call <= test.options.positions_max; ++call) {
        schedule.between_at = call;
        schedules.push_back(schedule);
      }
    }
  }
  std::size_t runs = 0;
  for (const HarnessSchedule& schedule : schedules) {
    ++runs;
    const std::string violation = HarnessRun(test, schedule, 1).run_source();
    if (!violation.empty()) return {runs, explain(schedule, violation)};
  }
  return {runs, {}};
}

}  // namespace hummer
