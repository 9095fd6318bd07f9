// FaultSchedule: which faults strike a simulated cluster, when, and how often they did.
//
// A schedule is drawn from the seed: at least three faults between `faults_begin` and
// `faults_end`. A fault counts as happened when it had an effect (a message was really lost, a
// partition really held bytes back), not when it was drawn; one that lasts goes on until it had
// one, or until faults end.
//
// PlannedMessageFaults is what each actor's MessageStreams ask: it loses, repeats and delays
// messages while such a fault lasts.
//
// Thread: that of the simulation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/random.hpp"
#include "platform/simulation.hpp"
#include "protocol/message_stream.hpp"

namespace hummer::cluster_simulation {

enum class FaultKind : std::uint8_t {
  message_loss,
  message_repetition,
  message_delay,
  connection_death,
  partition,
  task_manager_death,
  job_manager_death,
  client_death,
  slow_network,
  one_way_cut,
  task_manager_stall,  // beyond the time-out
  clock_step,
  corruption,
};
inline constexpr std::size_t fault_kinds = 13;
std::string_view to_string(FaultKind kind);

inline constexpr int task_manager_count = 3;
inline constexpr Nanoseconds faults_begin = seconds(2);
inline constexpr Nanoseconds faults_end = seconds(40);
inline constexpr int faults_minimum = 3;

// Between which nodes nothing passes. Of a one-way cut: to the JobManager, to another TaskManager,
// or (client_from_job_manager) from the JobManager.
enum class Cut : std::uint8_t {
  task_manager_from_job_manager,
  task_manager_from_task_manager,
  task_manager_from_all,
  client_from_job_manager,
};

struct Fault {
  FaultKind kind = FaultKind::message_loss;
  Nanoseconds begin = 0;
  Nanoseconds duration = 0;  // until the restart, of a death
  int victim = 0;            // which TaskManager
  Cut cut = Cut::task_manager_from_all;
  // Of a death: it comes this many steps of the simulation after `begin`, so that it strikes
  // between any two awaits and not only when all sleep.
  std::uint64_t steps_later = 0;
  // Of a clock step.
  std::int64_t clock_step_ms = 0;
  bool clock_of_job_manager = false;
  bool happened = false;
};

// How often each kind of fault happened.
struct FaultTotals {
  std::array<std::uint64_t, fault_kinds> happened{};
  std::uint64_t& operator[](FaultKind kind) { return happened[static_cast<std::size_t>(kind)]; }
  void add(const FaultTotals& other) {
    for (std::size_t i = 0; i < fault_kinds; ++i) happened[i] += other.happened[i];
  }
};

// In order of `begin`. `busy`: times at which something is under way; a part of the faults is aimed
// at them.
std::vector<Fault> draw_faults(Random& random, const std::vector<Nanoseconds>& busy);
Fault draw_death(Random& random, Nanoseconds begin);

// What goes wrong with messages now.
struct MessageWeather {
  int losing = 0;  // faults of this kind that last
  int repeating = 0;
  int delaying = 0;
};

class PlannedMessageFaults final : public MessageFaults {
 public:
  PlannedMessageFaults(Simulation& simulation, const MessageWeather& weather, FaultTotals& totals,
                       std::uint64_t seed)
      : simulation_(simulation), weather_(weather), totals_(totals), random_(seed) {}
  Verdict next(const wire::Envelope& message) override;

 private:
  Simulation& simulation_;
  const MessageWeather& weather_;
  FaultTotals& totals_;
  Random random_;
};

}  // namespace hummer::cluster_simulation
