// ConnectorContext: what the engine's own connectors may reach besides what every operator may ask.
//
//   Files& files = connector_context(context()).platform().files();
//
// Whoever asks includes the platform's headers, which no job does. Every OperatorContext is one.
// Thread: that of the operator.
#pragma once

#include <cstdint>
#include <string>

#include <hummer/operator.hpp>

namespace hummer {

class Executor;
class Platform;
class WakeEvent;

class ConnectorContext : public OperatorContext {
 public:
  virtual Platform& platform() = 0;
  virtual Executor& executor() = 0;
  virtual WakeEvent& wake_event() = 0;  // of the operator's task

  // For messages: which line of the file the byte at `offset` is in, from 1; 0: unknown.
  virtual std::uint64_t line_at(const std::string& /*path*/, std::uint64_t /*offset*/) { return 0; }

  // The operator has to keep something until its snapshot under way is written: the rest of it
  // comes as fast as it can.
  virtual void hurry_snapshot() {}

  // Whether the state of a key with this hash belongs to the subtask.
  bool owns_hash(std::uint64_t hash) const { return place_.owns(hash); }
  // In snapshot and snapshot_rest: these of the bytes written are entries of keys in these groups,
  // and a subtask that owns none of them need not read the bytes. In order.
  void note_block(const KeyGroupBlock& block) { report_.key_group_blocks.push_back(block); }

 protected:
  ConnectorContext() = default;
  explicit ConnectorContext(OperatorPlace place) : OperatorContext(std::move(place)) {}
};

inline ConnectorContext& connector_context(OperatorContext& context) {
  return static_cast<ConnectorContext&>(context);
}
inline const ConnectorContext& connector_context(const OperatorContext& context) {
  return static_cast<const ConnectorContext&>(context);
}

}  // namespace hummer
