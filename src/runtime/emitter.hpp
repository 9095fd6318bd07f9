// Emitter: the end of a chain, where elements leave the task along one edge.
//
// Forms: forward, hash, rebalance and broadcast into ring channels
// (channel_emitters.hpp), and into a transport (net/network_emitter.hpp, which
// makes the chain a sender task).
//
// Contract: `offer` takes what it can of the element. `done`: all of it is taken;
// the batch is left empty (with a spare storage where there was one to give
// back), the control has gone behind it. `blocked`: no credit; part may have been
// taken (batch.position() says how much); the driver calls again with the same
// element when `WakeEvent` of the task is notified. `failed`: failure() says why.
// A control goes only after all records before it, on every channel of the edge, but for a barrier
// that is announced: it unaligned what the emitter has not sent (see runtime/in_flight.hpp).
//
// Thread: that of the task. Ownership: owned by the chain driver.
#pragma once

#include <cstdint>
#include <string>

#include <hummer/operator.hpp>

namespace hummer {

class Emitter {
 public:
  virtual ~Emitter() = default;
  virtual OperatorResult offer(Element& element) = 0;
  virtual Status failure() const { return {}; }
  // Appends the records, as runs, that earlier offers have left in this emitter.
  virtual void collect(std::string& /*runs*/) const {}
  // Announces a barrier on every channel of the edge, before anything that has not been sent.
  // `in_flight`: runs that belong before it, of an edge with a single channel.
  virtual void send_out_of_band(std::uint64_t epoch, std::string in_flight) = 0;
  // The job ends early: tell the other side, so that nobody waits for this task.
  virtual void abandon() = 0;
  // For reports: where it is stuck, such as "→ count[1]".
  virtual std::string describe() const = 0;
};

}  // namespace hummer
