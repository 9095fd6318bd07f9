// What happens to a job and to a region of it, and what such an event carries. Which state follows
// on which event is in job_states.cpp.
//
// Pure; thread: values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include <hummer/status.hpp>

#include "platform/time.hpp"

namespace hummer {

struct PlacedAttempt;

// When something happens.
struct Moment {
  Nanoseconds now = 0;
  std::int64_t wall_ms = 0;
};

// Why something failed: the root is the first failure that does not only follow from another.
struct Failures {
  std::optional<Status> root_failure;
  std::optional<Status> consequence;
  std::string failed_on;  // the TaskManager of that failure
  bool is_last = false;   // of a region: the restart policy has said that the job ends by it

  Failures() = default;
  explicit Failures(Status root) {
    if (!root.ok()) root_failure = std::move(root);
  }
  void add(Status failure, bool is_consequence, const std::string& task_manager);
  // The first of them; ok() when there is none.
  Status first() const;
  // The same of what has failed: never ok().
  Status reason() const;
};

// That it begins again, when and why: an event, and part of the states until then.
struct Restart {
  Nanoseconds at = 0;
  std::string reason;
};

namespace job_event {

struct GotSlots {
  std::unique_ptr<PlacedAttempt> attempt;
};
struct AllRan {};        // every part has begun, at least
struct Stops {};         // its owner stops it, or a savepoint that is complete
struct Cancels {};       // its owner cancels it
struct AllCommitted {};  // every sink has committed the savepoint that stops it
struct Fails {
  Failures why;
};
struct BeginsAgain {};  // with the next attempt
struct Finishes {};     // every part has finished, or committed all that there is
struct AllEnded {};     // every part has ended, and not all have finished

}  // namespace job_event

using JobEvent =
    std::variant<job_event::GotSlots, job_event::AllRan, job_event::Stops, job_event::Cancels,
                 job_event::AllCommitted, job_event::Fails, Restart, job_event::BeginsAgain,
                 job_event::Finishes, job_event::AllEnded>;

// The state that `states` is in when that is a `State`, or has one as its base; else null.
template <class State, class Variant>
auto* state_as(Variant& states) {
  using Found = std::conditional_t<std::is_const_v<Variant>, const State, State>;
  return std::visit(
      [](auto& now) -> Found* {
        if constexpr (std::is_convertible_v<decltype(&now), Found*>) {
          return &now;
        } else {
          return nullptr;
        }
      },
      states);
}

}  // namespace hummer
