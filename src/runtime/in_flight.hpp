// InFlight: records that a barrier has overtaken, as one task saves them.
//
// An unaligned barrier waits for nobody: what it passes on its way belongs to the checkpoint, as
// pieces of its own kind, one per destination (an operator and its input) and hop. After a restore
// they come before anything else: of a hash edge each new subtask takes the records that it owns,
// of any other those that are dealt to it. (Chandy and Lamport 1985; unaligned checkpoints: Flink's
// FLIP-76.)
//
//   piece  := version u8 (1), hop u8, input u32, subtask u32, run*
//   run    := type u64, records u32, flags u8 (1: timestamps), values_bytes u64, values by the
//             codec of the type, timestamps
//
// Hop: how far from the operator a record was, in tasks. Those of hop 0 (a rest of the operator's
// own batch, its channels) come before those of hop 1 (not published yet by the task upstream), so
// that the order of a key is kept. Subtask: whose they were; decides who gets what is dealt out.
//
// Controls are not kept: a watermark that is lost is made good by the next one, and after a restore
// the first one must not come before these records.
//
// Thread: values. Errors: corrupt_record; invalid_graph when the operator takes another type now.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <hummer/batch.hpp>

#include "runtime/snapshot_piece.hpp"

namespace hummer {

// Where records are on their way to.
struct Destination {
  std::string uid;
  int input = 0;
};

enum class Hop : std::uint8_t { own_task = 0, task_upstream = 1 };

// Appends what is left of the batch, from its position on, as a run.
void append_run(const Batch& batch, std::string& runs);

class InFlight {
 public:
  // What is added first comes first after a restore.
  void add(const Destination& to, Hop hop, const Batch& batch) { append_run(batch, at(to, hop)); }
  void add_runs(const Destination& to, Hop hop, std::string_view runs) {
    if (!runs.empty()) at(to, hop).append(runs);
  }
  bool empty() const { return runs_.empty(); }
  // Leaves it empty.
  std::vector<SnapshotPiece> take_pieces(int subtask);

 private:
  std::string& at(const Destination& to, Hop hop) { return runs_[{to.uid, to.input, hop}]; }
  std::map<std::tuple<std::string, int, Hop>, std::string> runs_;
};

class InFlightReader {
 public:
  // REQUIRES: `bytes` live as long.
  static Result<InFlightReader> open(std::string_view bytes);

  Hop hop() const { return hop_; }
  int input() const { return input_; }
  int subtask() const { return subtask_; }
  // False: that was all. `batch` becomes a new one, which keeps its text.
  Result<bool> next(const TypeDescriptor& type, Batch& batch);

 private:
  explicit InFlightReader(std::string_view bytes) : in_(bytes) {}
  ByteReader in_;
  Hop hop_ = Hop::own_task;
  int input_ = 0;
  int subtask_ = 0;
};

}  // namespace hummer
