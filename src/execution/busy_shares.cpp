#include "execution/busy_shares.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds window_ns = milliseconds(900);  // less than the usual pause between reports

std::uint32_t percent(Nanoseconds part, Nanoseconds of) {
  return part <= 0 ? 0 : static_cast<std::uint32_t>((part * 100 + of / 2) / of);
}

}  // namespace

void BusyShares::look(const Deployment& deployment, Nanoseconds now) {
  if (begin_ != 0 && now - begin_ < window_ns) return;
  for (const JobVertex& vertex : deployment.job_graph().vertices) {
    Vertex& seen = vertices_[static_cast<std::uint32_t>(vertex.id)];
    const TimeShares time = deployment.vertex_time(vertex.id, now);
    if (begin_ != 0) {
      const Nanoseconds window = now - begin_;
      seen.busy_percent = percent(time.busy_ns - seen.at_begin.busy_ns, window);
      seen.back_pressured_percent = percent(time.stalled_ns - seen.at_begin.stalled_ns, window);
    }
    seen.at_begin = time;
  }
  begin_ = now;
}

void BusyShares::describe(wire::VertexMetrics& metrics) const {
  const auto found = vertices_.find(metrics.vertex());
  if (found == vertices_.end()) return;
  metrics.set_busy_percent(found->second.busy_percent);
  metrics.set_back_pressured_percent(found->second.back_pressured_percent);
}

}  // namespace hummer
