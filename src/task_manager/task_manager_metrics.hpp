// A TaskManager's /metrics: what runs in its slots, and what it holds.
#pragma once

#include <string>
#include <vector>

#include <hummer/detail/memory_account.hpp>

#include "execution/attempt_host.hpp"
#include "shuffle/shuffle_store.hpp"

namespace hummer {

class ProcessLog;

class MetricsText;

// Of every process that runs attempts.
struct ProcessMetrics {
  std::vector<AttemptHost::Sampled> attempts;
  std::vector<std::string> stuck;
  std::vector<MemoryAccount::Metric> memory;
  std::size_t memory_limit_bytes = 0;
  std::size_t resident_bytes = 0;
  ShuffleStore::Usage shuffle;
};
void write_process_metrics(MetricsText& text, const ProcessMetrics& metrics);

struct TaskManagerMetrics : ProcessMetrics {
  bool registered = false;
  Nanoseconds unheard_ns = 0;  // since the JobManager was last heard of
  DataPlaneCounts data_plane;
  std::uint64_t shuffle_sent_bytes = 0;
  const ProcessLog* process_log = nullptr;
};

std::string task_manager_metrics(const TaskManagerMetrics& metrics);

}  // namespace hummer
