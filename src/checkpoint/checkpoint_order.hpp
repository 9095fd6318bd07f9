// CheckpointOrder: what is to be done on disk for a job's checkpoints, and what came of it.
//
// attempt_checkpoints.hpp and the JobManager decide without touching a disk; whoever drives them
// carries their orders out, one after the other, where blocking does no harm, and hands the
// outcomes back. Orders of one job are carried out in the order in which they were given: so a
// search for the newest checkpoint that follows the completion of one knows of it.
//
// Thread: a value; execute() blocks for as long as the disk takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "platform/files.hpp"
#include "platform/time.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer {

struct CheckpointOrder {
  enum class Kind {
    begin,     // make the directory `path`; of a savepoint: a new one
    complete,  // write `metadata` into `path`, then remove what retention does not keep
    drop,      // remove what there is of a checkpoint that was given up, or let retention do so
    find,      // what to begin with
    clear,     // remove all of a job that needs none any more
  };
  Kind kind = Kind::begin;
  std::uint64_t job = 0;  // whose: handed back
  std::uint32_t attempt = 0;
  std::string directory;         // where this job's checkpoints are
  std::uint64_t own_from = 1;    // numbers below are of other runs or jobs, and left alone
  std::uint64_t checkpoint = 0;  // its number
  std::string path;
  bool savepoint = false;
  CheckpointMetadata metadata;
  std::uint32_t retained = 1;
  // Of find. `restore`: a checkpoint's directory; "latest": the newest one of a job named
  // `metadata.job_name`, in `latest_in` or a job's directory in it; empty: the newest one in
  // `directory`, from own_from on. Of clear: how the job began; with "latest" the checkpoints of
  // earlier runs of its name go too, or the next such run would repeat what this one has done.
  std::string restore;
  std::string latest_in;
  // Of find with `restore` empty: the newest one that is known, when it is not in `directory`
  // (what the job began with). It is taken unless a newer one is found; when it is
  // damaged, an older one. `checkpoint` is its number.
  std::string known;
  bool verify = true;        // read every file before one is chosen
  std::int64_t wall_ms = 0;  // since 1970, when it is carried out
};

struct CheckpointOutcome {
  CheckpointOrder order;
  Status status;  // of find: not_found when there is none
  // Of find.
  CheckpointMetadata found;
  std::string path;           // of it
  std::uint64_t highest = 0;  // number that was seen, complete or not
  // The highest that was complete and is damaged, so that an older one is taken; 0: none. What it
  // and those below it committed is committed.
  std::uint64_t superseded = 0;
  std::vector<std::string> passed_over;  // "checkpoint 7 is passed over: ..."
};

// One that the disk has not answered for long; for people.
struct HungOrder {
  std::uint64_t job = 0;
  std::string path;
  std::string doing;  // "completing a checkpoint"
  Nanoseconds age = 0;
};

CheckpointOutcome execute(Files& files, CheckpointOrder order);

// Where savepoint `number`, which `request` asked for, goes in the directory that was asked
// for.
std::string savepoint_path(const std::string& directory, std::uint64_t number,
                           std::uint64_t request);
bool is_savepoint(const std::string& name);  // of a directory
// Where the checkpoints of a job on a cluster are: several share the directory that was configured.
std::string job_directory(const std::string& configured, std::uint64_t submission);
bool is_job_directory(const std::string& name);

}  // namespace hummer
