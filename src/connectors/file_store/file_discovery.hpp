// FileDiscovery: the source of follow_files. One subtask looks for files, for all readers, and
// deals them out as FileUnits: so there is one view of the directory, one order and one list of
// what was taken (docs/design/0014-continuous-files.md).
//
// It looks at the store every `discovery_interval_ms`, page by page, and gives way between a few of
// them. A file is taken when it has not changed for `settle_ms`: its version is looked at, it goes
// into the state, and its units go out, one per call. What is hidden, what ends in .tmp or
// .inprogress and what does not match the pattern is left alone.
//
// Files go out as fast as the readers take them: a look begins when the files of the one before are
// dealt out.
//
// State: SeenFiles, and the file that is being cut into units. Snapshots are deltas where they may.
// Errors, each naming the file: file_changed for one that has changed since it was taken, not_found
// for a directory that is missing, or has none of the files that the state knows; those of the
// store. Thread: that of the operator.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <hummer/metrics.hpp>

#include "connectors/file_store/file_unit.hpp"
#include "connectors/file_store/path_pattern.hpp"
#include "connectors/file_store/seen_files.hpp"

namespace hummer {

class FileDiscovery final : public SourceOperator {
 public:
  FileDiscovery(std::string path, FollowOptions options);

  void declare(Output& out) const override { out.add_port(type_of<FileUnit>()); }
  Status restore(ByteReader& in) override;
  Status open() override;
  OperatorResult produce(Output& out) override;
  bool wakes_itself() const override { return true; }
  std::vector<StateDescription> states() override { return {{"files", "followed_files"}}; }
  Status snapshot(ByteWriter& out) override;
  Status close() override;

 private:
  // One that is not taken yet, since it may still be written to.
  struct Unsettled {
    std::uint64_t size_bytes = 0;
    std::int64_t modified_ms = 0;
    std::int64_t since = 0;
  };

  OperatorResult look();
  Status begin_look();
  Status finish_look();
  Status find_any_known();
  bool is_wanted(const StoredFile& file) const;
  bool has_settled(const StoredFile& file, std::map<std::string, Unsettled>& unsettled) const;
  Status leave_out(const StoredFile& changed);
  Status take(const StoredFile& listed);
  Result<bool> is_one_unit(const StoredFile& file);
  void emit_unit(Output& out);

  const std::string path_;
  const PathPattern pattern_;
  const FollowOptions options_;
  std::unique_ptr<FileStore> store_;
  SeenFiles seen_;
  Counter left_out_{"files_left_out"};

  std::unique_ptr<FileLister> lister_;  // of the look under way
  std::vector<StoredFile> listed_;
  std::vector<StoredFile> due_;  // have stayed the same for settle_ms, the next one last
  std::map<std::string, Unsettled> unsettled_;
  std::int64_t next_look_ = 0;
  bool marker_was_there_ = false;  // when the look under way began
  bool ended_ = false;
  bool checks_known_ = false;  // the first look behind a restore

  // The file that is being cut; dealt out up to next_begin_.
  StoredFile current_;
  std::uint64_t unit_bytes_ = 0;
  std::uint64_t next_begin_ = 0;
};

}  // namespace hummer
