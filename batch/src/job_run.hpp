// JobRun: what the tasks of one run of a job have in common.
//
// Thread: any; it outlives all of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <hummer/batch/job.hpp>
#include <hummer/detail/zeroed_pages.hpp>

#include "batch/codec.hpp"
#include "batch/output_collector.hpp"
#include "output_directory.hpp"
#include "platform/platform.hpp"

namespace hummer::batch {

struct JobRun {
  Platform& platform;
  const Job& job;
  Codec codec = Codec::none;
  std::uint32_t threads = 1;
  std::uint32_t reducers = 0;
  std::string spill_directory;
  OutputDirectory& output;
  std::atomic<bool> is_stopping{false};

  // Of all threads' collectors, where map tasks of a thread share one; null: each has its own.
  std::shared_ptr<ZeroedPages> collected_pages = nullptr;

  std::size_t memory_per_thread() const { return job.memory_bytes / threads; }
  // Of the memory of a thread, where there is a folder: its table gets the other half.
  std::size_t collector_bytes() const {
    const std::size_t bytes = memory_per_thread() / (folds() ? 2 : 1);
    return std::max(bytes, OutputCollector::least_memory_bytes) / RecordArena::unit *
           RecordArena::unit;
  }
  // Whether what mappers emit is folded, and whether reduce tasks do nothing else.
  bool folds() const { return job.folder != nullptr && reducers > 0; }
  bool reduces_by_folding() const { return folds() && job.reducer == nullptr; }
  bool writes_files() const { return job.output_format.has_files; }
  // Whether map tasks of a thread collect into the same memory.
  bool shares_memory() const { return job.max_attempts == 1; }
  // How keys are sorted on their way to reducers.
  KeyOrder order() const {
    return reduces_by_folding() ? KeyOrder(KeyOrder::Form::none) : job.sort_order;
  }
  std::unique_ptr<Reducer> make_reducer() const {
    return job.reducer != nullptr ? job.reducer() : std::make_unique<IdentityReducer>();
  }
};

}  // namespace hummer::batch
