// BusyShares: of what the tasks of an attempt have done with the last second, per vertex.
//
// Whole percents, which for a job in a steady state stay equal, so that a heartbeat may leave them
// out. Ask it as often as reports are made. Thread: one.
#pragma once

#include <map>

#include "execution/deployment.hpp"
#include "protocol/control.pb.h"

namespace hummer {

class BusyShares {
 public:
  void look(const Deployment& deployment, Nanoseconds now);
  // Fills in what the last whole window of this vertex was; nothing before its end.
  void describe(wire::VertexMetrics& metrics) const;

 private:
  struct Vertex {
    TimeShares at_begin;
    std::uint32_t busy_percent = 0;
    std::uint32_t back_pressured_percent = 0;
  };
  Nanoseconds begin_ = 0;
  std::map<std::uint32_t, Vertex> vertices_;
};

}  // namespace hummer
