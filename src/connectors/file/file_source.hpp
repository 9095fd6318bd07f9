// FileSource: a source of text blocks out of files. make_file_source
// (hummer/detail/connector_factories.hpp) makes it.
//
// All subtasks are made with one list of the files (file_listing.hpp); one without lists them by
// itself. Each reads the splits of its lane (see file_splits.hpp), one after the other. One call of
// produce() emits one block: tens of kilobytes that are still in cache when the next operator sees
// them. With repeat_first_line a split that does not begin its file is preceded by the first line,
// and so is what is left of a split after a restore. With a framing each is preceded by the head.
//
// What is written after the listing is not read: neither files that appear, nor bytes behind the
// listed size. A file that is not the one that was listed, when it is opened or when one of its
// splits has been read, fails the job by name (file_changed), whether it has grown, shrunk, or was
// replaced. Files that were read before a restart need not be there any more.
//
// Snapshot: which lanes, how many splits of each are done, and the offset within
// the current one. A restored source goes on at exactly the next line. The pieces
// of a snapshot may be dealt to any number of subtasks: each does the rest of
// every lane that it is given. One that is given none must be told so by an
// empty piece, for without a piece it begins anew. Restoring fails with
// file_changed when the list of files is not that of the snapshot. (Compressed
// files are decompressed again from their begin.)
//
// Errors, each naming the file: not_found, permission_denied, not_a_file,
// corrupt_file, file_changed, limit_exceeded, io_error; invalid_configuration for
// options.
//
// Thread: that of the operator. Blocks live as long as the buffers that their
// batch keeps, which also hold the name behind TextBlock::origin; they may outlive
// the source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/connector_factories.hpp>
#include <hummer/operator.hpp>

#include "connectors/file/decompress.hpp"
#include "connectors/file/file_splits.hpp"
#include "connectors/file/split_reader.hpp"
#include "runtime/source_listing.hpp"

namespace hummer {

// Options that make no sense: invalid_configuration.
Status check(const FileSourceOptions& options);

class FileSource final : public SourceOperator {
 public:
  // `listing`: null: it makes its own.
  FileSource(std::string path, FileSourceOptions options, SourceListing listing = nullptr);

  void declare(Output& out) const override;
  Status restore(ByteReader& in) override;
  Status open() override;
  OperatorResult produce(Output& out) override;
  std::vector<StateDescription> states() override { return {{"position", "file_lanes"}}; }
  Status snapshot(ByteWriter& out) override;
  Status close() override;

 private:
  // A share of the splits, and how far it has been read.
  struct Lane {
    std::uint32_t lane = 0;
    std::uint32_t lanes = 1;
    std::uint64_t done = 0;    // splits of it that are finished
    std::uint64_t offset = 0;  // in the split at `done`: next line
    std::uint8_t entered = 0;  // whether `offset` counts
  };

  Status list_files();
  // Opens the next split that is left; reader_ stays null when there is none.
  Status open_next_split();
  OperatorResult emit_first_line(Output& out);
  static OperatorResult emit(const SplitReader::Run& run, Output& out);
  std::unique_ptr<ByteInput> input_from_begin();
  // Of a file with a framing; the range then begins behind it.
  Status take_head(LineRange& range);
  Status open_file(std::uint32_t index);
  // Whether what is read of the file that was opened last is what was listed.
  Status check_open_file();
  Status check_mapped();
  std::unique_ptr<SplitReader> make_reader(const LineRange& range);
  std::unique_ptr<SplitReader> make_reader(std::unique_ptr<ByteInput> input,
                                           const LineRange& range);
  void count_progress(bool finished);

  std::string path_;
  FileSourceOptions options_;
  SourceListing listing_;
  LineLimits limits_;
  LineBufferPool pool_;

  std::vector<InputFile> files_;
  std::uint64_t fingerprint_ = 0;
  bool restored_ = false;
  std::uint64_t restored_fingerprint_ = 0;

  std::vector<Lane> lanes_;        // the first is being read
  std::vector<FileSplit> splits_;  // of the first lane
  FileSplit split_;                // the one that reader_ reads
  std::unique_ptr<SplitReader> reader_;
  std::uint64_t counted_bytes_ = 0;  // of split_
  bool emitted_ = false;             // a block of it
  bool first_line_due_ = false;      // ahead of its blocks
  SplitReader::Run head_;            // the same, of a file with a framing
  std::string mark_;

  // The file that was opened last, kept for its next split.
  std::uint32_t open_index_ = UINT32_MAX;
  std::shared_ptr<ReadableFile> file_;
  CompressionFormat format_ = CompressionFormat::none;
  std::shared_ptr<const std::string> origin_;
  BufferRef mapped_;  // a MappedText, when the file is mapped
};

}  // namespace hummer
