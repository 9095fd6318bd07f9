// RollingFiles: the files that one subtask of write_files has open, and those that wait to become
// visible.
//
//   between barriers   a record goes into the open part of its partition. A part that is rolled is
//                      finished: durable, invisible, known by a handle
//   at a barrier       finished parts belong to its epoch. What open ones hold so far is made
//                      durable, too, and known by a token; they go on, or are rolled, as the
//                      options and the store want it
//   commit(epoch)      the checkpoint is complete: finished parts up to its epoch become visible
//   after a restart    those of the restored checkpoint do; of its open parts, too, exactly what
//                      they held at the barrier, whoever wrote on behind it; new parts begin. All
//                      else that earlier attempts left is aborted
//
// So every record is in one visible file, and a file is never written to once it is visible. Each
// subtask has a note beside the files (part_names.hpp): up to which epoch it has committed. It is
// written ahead of the first of them, and says of a file that is gone whether somebody has taken it
// away or it was lost, which fails the job. It also keeps two jobs apart: a new one is refused
// where another has committed before (refuse_existing), and one that begins with an older state
// where its own files of later checkpoints lie. Where the state of those is damaged
// (OperatorContext::superseded_epoch) they are set aside: hidden as `.<name>.superseded`, for a
// person to look at. Before the first commit of an attempt each subtask looks for the notes of all
// others: one that is missing is in another directory of the same name.
//
// A partition is marked as complete (_SUCCESS) by whoever is the last to commit beyond its end:
// each notes its watermark, and the partitions that it knows of.
//
// Without checkpoints files become visible as they are rolled.
//
// Thread: that of the operator. Errors: those of the store, with the directory's name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/operators/rolling_sink.hpp>

#include "connectors/file_store/part_compressor.hpp"
#include "connectors/file_store/part_names.hpp"

namespace hummer {

class RollingFiles {
 public:
  RollingFiles(std::string directory, RollOptions options, bool checkpoints);

  Status restore(ByteReader& in);
  Status open(OperatorContext& context);

  // The open part of a partition, which is begun where there is none. Another one may be rolled for
  // it. Good until the next call of anything here but hand_over.
  Result<OpenPart*> part_of(std::string_view partition, Timestamp ends_at);
  // Takes the text. Null: the part was rolled.
  Result<OpenPart*> hand_over(OpenPart& part);
  // Rolls those that are due.
  Status timer();
  Status watermark(Timestamp time);

  Status flush();
  Status end();
  void snapshot(ByteWriter& out) const;
  Status commit(std::uint64_t epoch);
  void close();

 private:
  struct Part final : OpenPart {
    PartName name;
    std::string path;  // in the directory
    Timestamp ends_at = end_of_time;
    std::unique_ptr<FileUpload> upload;
    std::unique_ptr<PartCompressor> compressor;
    std::string packed;  // not appended yet
    std::uint64_t written_bytes = 0;
    std::int64_t opened_at = 0;
    std::string token;  // of what the upload holds; empty: it was not saved since
  };
  struct Finished {
    std::uint64_t epoch = 0;
    PartName name;
    std::string path;
    Timestamp ends_at = end_of_time;
    std::string handle;
    std::string token;        // of an open part of the restored checkpoint, else empty
    std::uint64_t bytes = 0;  // that it had at the barrier
  };
  using Parts = std::map<std::string, std::unique_ptr<Part>, std::less<>>;

  // ---- open parts (rolling_files.cpp) ----
  Status begin_part(std::string_view partition, Timestamp ends_at);
  Status append(Part& part, bool all);
  Status save(Part& part);
  Status roll(Parts::iterator part);
  Status roll_all();
  Status make_room();
  bool is_full(const Part& part) const;
  void note_partition(const Part& part);
  std::int64_t due_at(const Part& part) const;
  void set_timer(std::int64_t when);
  Status count_memory();

  // ---- what becomes visible (rolled_files.cpp) ----
  Status take_over();
  Status look_at_notes();
  Status hide_superseded();
  Status abort_left_behind();
  Status finish_restored();
  Status find_notes();
  Status publish(std::size_t count, std::uint64_t epoch);
  Status publish_one(const Finished& file, const SinkNote& before);
  Result<SinkNote> note_of(const NoteName& name);
  Status put_note();
  Status mark_complete(Timestamp watermark);
  bool looks_after(int subtask) const;
  std::string note_path(const NoteName& name) const;
  Status named(const Status& status) const;

  const std::string directory_;
  const RollOptions options_;
  const bool checkpoints_;
  const std::string suffix_;
  OperatorContext* context_ = nullptr;
  std::unique_ptr<FileStore> store_;
  std::uint64_t sink_ = 0;
  std::uint64_t restored_epoch_ = 0;
  std::uint64_t last_barrier_ = 0;
  std::uint64_t parts_begun_ = 0;
  MemoryUse memory_;

  Parts parts_;
  std::int64_t timer_at_ = INT64_MAX;
  Timestamp watermark_ = no_timestamp;
  Timestamp restored_watermark_ = end_of_time;     // the least of the pieces of state
  std::map<std::uint64_t, Timestamp> watermarks_;  // at the barriers that are not committed

  std::vector<Finished> finished_;   // by epoch; the highest: no barrier has come behind it
  std::set<std::uint64_t> lineage_;  // this sink, and those whose state was restored
  SinkNote note_;
  bool notes_found_ = false;
};

}  // namespace hummer
