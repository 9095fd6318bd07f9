// StatefulJob: the job whose checkpoints the simulation tests, and what its output must be.
//
//   source of splits → key_by → window sum → gate → write_file OUTPUT/windows     (two-phase)
//                    → key_by → keyed process with timers → gate → write_file OUTPUT/accounts
//                    → key_by → session sum → gate → write_file OUTPUT/sessions   (of some)
//                    → key_by, odd ones → key_by → interval join → gate → write_file OUTPUT/pairs
//                                                                                 (of some)
//                    → key_by, odd ones → key_by → co-group over windows or sessions → gate
//                                            → write_file OUTPUT/groups           (of some)
//   from_file INPUT → lines when they are due → key_by → count → write_file OUTPUT/lines (of some)
//
// A gate is shut for a while now and then (`shut_ms` of each `shut_every_ms`), so that records wait
// ahead of it, in its chain and in channels, when a barrier comes. In some, what comes to a gate is
// held back until the barrier, which then waits in the middle of the chain behind all that.
//
// The source has splits, as a log has partitions: a key belongs to one split, so the records of
// a key have an order, also after a restore at another parallelism. Records carry event time and
// come out of order by up to `out_of_order_ms`; a burst of every split is due each `pause_ms` of
// the wall clock, so that a run lasts about a minute, and one that was down has to catch up.
//
// The input files are cut into splits that end anywhere in a line; a file's lines are due one after
// the other by the wall clock, at the latest when a subtask has held one for a while.
//
// All is a function of the workload: expected_output() tells by plain loops what the files hold
// in the end.
//
// Thread: that of the simulation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <hummer/environment.hpp>

#include "platform/random.hpp"

namespace hummer::cluster_simulation {

inline constexpr std::int64_t parallelism_most = 4;

struct Workload {
  std::uint64_t seed = 1;
  std::uint64_t splits = 4;
  std::uint64_t keys_per_split = 7;
  std::uint64_t records_per_split = 2600;
  std::uint64_t burst = 20;  // records of a split that are due at once
  std::int64_t pause_ms = 500;
  std::int64_t begins_ms = 0;  // by the wall clock
  std::int64_t step_ms = 10;   // of event time, between two records of a split
  std::int64_t out_of_order_ms = 100;
  std::int64_t window_ms = 2000;
  std::int64_t slide_ms = 2000;
  std::int64_t timer_ms = 3000;
  std::uint64_t late_merge = 1;  // 0: records travel to their windows
  std::int64_t shut_ms = 0;      // 0: the gates are always open
  std::int64_t shut_every_ms = 1000;
  std::uint64_t shuts_accounts = 1;  // 0: all gates but that of the accounts
  std::int64_t gap_ms = 0;           // of sessions; 0: there are none
  std::int64_t pair_ms = 0;          // how far the records of a pair are apart; 0: no join
  std::uint64_t hoards = 0;          // 1: ahead of gates that shut
  std::uint64_t groups = 0;          // 1: over the windows; 2: over sessions; 0: there are none
  std::int64_t group_gap_ms = 1;     // of those sessions
  std::uint64_t lines = 0;           // of input files; 0: there are none
  std::uint64_t line_keys = 1;
  std::uint64_t file_split_bytes = 1;
  std::int64_t line_step_ms = 1;  // between two lines
  // Where memory is limited: so many more have a share of it, so that state has no room.
  std::uint64_t crowd = 0;
  // No part of the text: false where records in flight may come back at another parallelism, when
  // those of a key in one chain may change places (checkpointing.hpp).
  bool order_kept = true;

  std::uint64_t records() const { return splits * records_per_split; }
  // As one argument of a job.
  std::string to_text() const;
  static Workload from_text(const std::string& text);
};

// About `lasts_s` seconds, at least 10'000 records.
Workload draw_workload(Random& random, std::int64_t begins_ms, std::int64_t lasts_s);

// Input files for it, read for so long.
void add_input_files(Workload& workload, Random& random, std::int64_t lasts_s);
inline constexpr const char* input_directory = "/input";
struct InputText {
  std::string path;
  std::string text;
  std::map<std::uint64_t, std::uint64_t> splits;  // of each line, by its number
};
// What is to lie there before the job begins.
std::vector<InputText> input_files(const Workload& workload);

// Of an unaligned run; 0 for half of them. Drawn from the seed alone.
std::int64_t draw_alignment_timeout_ms(std::uint64_t seed);

void build_stateful_job(StreamExecutionEnvironment& env, const Workload& workload,
                        const std::string& output);

// The same as a job of a library, with `--workload TEXT` and `--output DIRECTORY`.
void stateful_job(StreamExecutionEnvironment& env);
inline constexpr std::uint64_t stateful_job_library = 0x2000;

struct ExpectedOutput {
  using Window = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;  // key, start, end
  std::map<Window, std::uint64_t> windows;
  std::map<Window, std::uint64_t> sessions;
  std::map<Window, std::uint64_t> groups;
  std::map<Window, std::uint64_t> pairs;  // key, number of the first, of the second: both values
  struct Account {
    // By the record's number within its key: the sum up to it.
    std::vector<std::uint64_t> sums;
    std::map<std::int64_t, std::uint64_t> timers;  // by the end of a stretch: records in it
  };
  std::map<std::uint64_t, Account> accounts;
  std::map<std::uint64_t, std::uint64_t> lines;  // by key: how many
};
ExpectedOutput expected_output(const Workload& workload);

// What a line of OUTPUT/accounts is about.
inline constexpr std::uint64_t account_record = 0;
inline constexpr std::uint64_t account_timer = 1;

}  // namespace hummer::cluster_simulation
