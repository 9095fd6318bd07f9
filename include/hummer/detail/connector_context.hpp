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

 protected:
  ConnectorContext() = default;
  explicit ConnectorContext(OperatorPlace place) : OperatorContext(std::move(place)) {}
};

inline ConnectorContext& connector_context(OperatorContext& context) {
  return static_cast<ConnectorContext&>(context);
}

}  // namespace hummer
