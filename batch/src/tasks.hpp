// Map and reduce tasks: one attempt of each.
//
// Failures name the task and where in its input it was. A task that is told to stop
// (JobRun::is_stopping) ends with `cancelled` between two spans of records.
//
// Thread: each one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <hummer/batch/task_context.hpp>
#include <hummer/status.hpp>

#include "input_splits.hpp"
#include "job_run.hpp"
#include "map_collection.hpp"

namespace hummer::batch {

// `collection` null: a job without reducers, what is emitted is written.
Status run_map_task(JobRun& run, const InputSplit& split, TaskContext& context,
                    MapCollection* collection);

// `streams`: the records of its partition, each sorted.
Status run_reduce_task(JobRun& run, TaskContext& context,
                       std::vector<std::unique_ptr<RecordStream>> streams);

// Of a part of a task: its failure with the name of the task.
Status named_by_task(const TaskContext& context, const Status& status);

}  // namespace hummer::batch
