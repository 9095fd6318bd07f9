// JobCollector: what a handle of hummer.hadoop.NativeCollector stands for.
//
// Thread: one at a time.
#pragma once

#include <memory>

#include "batch/output_collector.hpp"
#include "batch/stream_combiner.hpp"
#include "class_combiner.hpp"

namespace hummer::hadoop {

struct JobCollector {
  std::unique_ptr<batch::StreamCombiner> combiner;
  const ClassCombiner* class_combiner = nullptr;  // the same, where it is of a class library
  std::unique_ptr<batch::OutputCollector> collector;
};

}  // namespace hummer::hadoop
