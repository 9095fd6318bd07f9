#include "simulation/fault_schedule.hpp"

#include <algorithm>

namespace hummer::cluster_simulation {
namespace {

constexpr double message_fault_rate = 0.3;

// How common each kind is, in the order of FaultKind.
constexpr std::array<std::uint64_t, fault_kinds> weights = {3, 3, 3, 3, 4, 4, 2, 2, 2, 3, 3, 2, 3};

FaultKind draw_kind(Random& random) {
  std::uint64_t all = 0;
  for (const std::uint64_t weight : weights) all += weight;
  std::uint64_t drawn = random.below(all);
  for (std::size_t i = 0;; ++i) {
    if (drawn < weights[i]) return static_cast<FaultKind>(i);
    drawn -= weights[i];
  }
}

std::uint64_t draw_steps(Random& random) {
  // Short and long distances alike: the logarithm is uniform.
  return random.below(std::uint64_t{1} << random.below(14));
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::message_loss: return "message loss";
    case FaultKind::message_repetition: return "message repetition";
    case FaultKind::message_delay: return "message delay";
    case FaultKind::connection_death: return "connection death";
    case FaultKind::partition: return "partition";
    case FaultKind::task_manager_death: return "TaskManager death";
    case FaultKind::job_manager_death: return "JobManager death";
    case FaultKind::client_death: return "client death";
    case FaultKind::slow_network: return "slow network";
    case FaultKind::one_way_cut: return "one-way cut";
    case FaultKind::task_manager_stall: return "TaskManager stall";
    case FaultKind::clock_step: return "clock step";
    case FaultKind::corruption: return "corruption";
  }
  return "?";
}

std::vector<Fault> draw_faults(Random& random, const std::vector<Nanoseconds>& busy) {
  std::vector<Fault> faults(faults_minimum + random.below(4));
  for (Fault& fault : faults) {
    fault.kind = draw_kind(random);
    fault.begin = random.between(faults_begin, faults_end - seconds(6));
    if (!busy.empty() && random.chance(0.5)) {
      const Nanoseconds aim = busy[random.below(busy.size())];
      fault.begin = std::clamp(aim + random.between(0, milliseconds(20)), faults_begin,
                               faults_end - seconds(2));
    }
    fault.duration = random.between(milliseconds(200), seconds(random.chance(0.5) ? 14 : 4));
    fault.victim = static_cast<int>(random.below(task_manager_count));
    fault.cut = static_cast<Cut>(random.below(4));
    fault.steps_later = draw_steps(random);
    // Short and long ones alike, forwards and back.
    fault.clock_step_ms =
        static_cast<std::int64_t>(1 + random.below(std::uint64_t{1} << random.below(17)));
    if (random.chance(0.5)) fault.clock_step_ms = -fault.clock_step_ms;
    fault.clock_of_job_manager = random.chance(0.3);
  }
  std::sort(faults.begin(), faults.end(),
            [](const Fault& a, const Fault& b) { return a.begin < b.begin; });
  return faults;
}

Fault draw_death(Random& random, Nanoseconds begin) {
  Fault fault;
  fault.kind = FaultKind::task_manager_death;
  fault.begin = begin;
  fault.duration = random.between(milliseconds(200), seconds(8));
  fault.victim = static_cast<int>(random.below(task_manager_count));
  fault.steps_later = draw_steps(random);
  return fault;
}

MessageFaults::Verdict PlannedMessageFaults::next(const wire::Envelope&) {
  Verdict verdict;
  if (weather_.losing > 0 && random_.chance(message_fault_rate)) {
    verdict.fate = Fate::lose;
    ++totals_[FaultKind::message_loss];
  } else if (weather_.repeating > 0 && random_.chance(message_fault_rate)) {
    verdict.fate = Fate::repeat;
    ++totals_[FaultKind::message_repetition];
  } else if (weather_.delaying > 0 && random_.chance(message_fault_rate)) {
    verdict.fate = Fate::delay;
    verdict.delay_ns = random_.between(milliseconds(1), seconds(random_.chance(0.5) ? 3 : 1));
    ++totals_[FaultKind::message_delay];
  }
  if (verdict.fate != Fate::send) {
    simulation_.trace("message fault", static_cast<std::uint64_t>(verdict.fate));
  }
  return verdict;
}

}  // namespace hummer::cluster_simulation
