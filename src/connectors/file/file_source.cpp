#include "connectors/file/file_source.hpp"

#include <algorithm>
#include <utility>

#include <hummer/detail/connector_context.hpp>

#include "connectors/file/file_listing.hpp"
#include "connectors/file/framed_reader.hpp"
#include "connectors/file/mapped_reader.hpp"
#include "platform/platform.hpp"

namespace hummer {
namespace {

// Encoded lengths of text have 32 bits.
constexpr std::size_t largest_block_bytes = std::size_t{1} << 31;

class FileSourceFactory final : public ListingSourceFactory {
 public:
  FileSourceFactory(std::string path, FileSourceOptions options)
      : path_(std::move(path)), options_(options) {}
  std::unique_ptr<Operator> make() const override { return make_with(nullptr); }
  std::unique_ptr<Operator> make_with(SourceListing listing) const override {
    return std::make_unique<FileSource>(path_, options_, std::move(listing));
  }
  Result<std::string> list(Platform& platform) const override {
    HUMMER_TRY(check(options_));
    const Result<FileListing> listing = make_listing(platform.files(), path_, options_);
    if (!listing.ok()) return listing.status();
    return to_bytes(*listing);
  }

 private:
  std::string path_;
  FileSourceOptions options_;
};

}  // namespace

Status check(const FileSourceOptions& options) {
  const auto check = [](const char* name, std::uint64_t value, std::uint64_t most) -> Status {
    if (value > 0 && value <= most) return {};
    return {ErrorCode::invalid_configuration, std::string("file source: ") + name +
                                                  " must be 1 to " + std::to_string(most) +
                                                  ", not " + std::to_string(value)};
  };
  HUMMER_TRY(check("split_size_bytes", options.split_size_bytes, UINT64_MAX));
  HUMMER_TRY(check("block_size_bytes", options.block_size_bytes, largest_block_bytes));
  return check("max_line_bytes", options.max_line_bytes, largest_block_bytes);
}

std::shared_ptr<const OperatorFactory> make_file_source(std::string path,
                                                        FileSourceOptions options) {
  return std::make_shared<FileSourceFactory>(std::move(path), options);
}

FileSource::FileSource(std::string path, FileSourceOptions options, SourceListing listing)
    : path_(std::move(path)),
      options_(options),
      listing_(std::move(listing)),
      limits_{options.block_size_bytes, options.max_line_bytes, options.quote},
      pool_(limits_.step_bytes()) {}

void FileSource::declare(Output& out) const { out.add_port(type_of<TextBlock>()); }

Status FileSource::restore(ByteReader& in) {
  restored_ = true;
  if (in.left() == 0) return {};
  std::uint32_t count = 0;
  bool valid = in.get_value(restored_fingerprint_) && in.get_value(count);
  for (std::uint32_t i = 0; valid && i < count; ++i) {
    Lane lane;
    valid = in.get_value(lane.lane) && in.get_value(lane.lanes) && in.get_value(lane.done) &&
            in.get_value(lane.offset) && in.get_value(lane.entered) && lane.lane < lane.lanes;
    lanes_.push_back(lane);
  }
  if (!valid) return {ErrorCode::corrupt_record, "the snapshot of file source '" + path_ + "'"};
  return {};
}

Status FileSource::snapshot(ByteWriter& out) {
  // Before the first block nobody knows yet where the first line begins: the split is begun again.
  if (reader_ && emitted_) {
    lanes_.front().entered = 1;
    lanes_.front().offset = reader_->position();
  }
  out.put_value(fingerprint_);
  out.put_value(static_cast<std::uint32_t>(lanes_.size()));
  for (const Lane& lane : lanes_) {
    out.put_value(lane.lane);
    out.put_value(lane.lanes);
    out.put_value(lane.done);
    out.put_value(lane.offset);
    out.put_value(lane.entered);
  }
  return {};
}

Status FileSource::open() {
  HUMMER_TRY(check(options_));
  HUMMER_TRY(list_files());
  if (!restored_ && !context().restored()) {
    Lane lane;
    lane.lane = static_cast<std::uint32_t>(context().subtask());
    lane.lanes = static_cast<std::uint32_t>(context().parallelism());
    lanes_.push_back(lane);
  } else if (!lanes_.empty() && restored_fingerprint_ != fingerprint_) {
    return {ErrorCode::file_changed, "the files of '" + path_ +
                                         "' or the split size are not those of the snapshot: "
                                         "restore the files, or start without the snapshot"};
  }
  for (const Lane& lane : lanes_) {
    const auto splits = splits_of_lane(files_, options_.split_size_bytes, lane.lane, lane.lanes);
    for (std::uint64_t i = lane.done; i < splits.size(); ++i) {
      context().expect_bytes(splits[i].end - splits[i].begin);
    }
  }
  if (!lanes_.empty()) {
    const Lane& first = lanes_.front();
    splits_ = splits_of_lane(files_, options_.split_size_bytes, first.lane, first.lanes);
  }
  return {};
}

Status FileSource::list_files() {
  Result<FileListing> listing =
      listing_ != nullptr
          ? listing_from(*listing_)
          : make_listing(connector_context(context()).platform().files(), path_, options_);
  if (!listing.ok()) return listing.status();
  if (listing->path != path_ || listing->split_size_bytes != options_.split_size_bytes) {
    return {ErrorCode::file_changed,
            "the checkpoint is of a job that reads '" + listing->path + "' in splits of " +
                std::to_string(listing->split_size_bytes) + " bytes, and this one reads '" + path_ +
                "' in splits of " + std::to_string(options_.split_size_bytes) +
                ": keep both, or start without the checkpoint"};
  }
  files_ = std::move(listing->files);
  fingerprint_ = splits_fingerprint(files_, options_.split_size_bytes);
  return {};
}

OperatorResult FileSource::produce(Output& out) {
  if (out.full()) return OperatorResult::more;
  while (true) {
    if (!reader_) {
      if (Status status = open_next_split(); !status.ok()) return context().fail(status);
      if (!reader_) return OperatorResult::done;
    }
    if (first_line_due_) return emit_first_line(out);
    if (head_.buffer) return emit(std::exchange(head_, {}), out);
    Result<SplitReader::Run> run = reader_->next();
    if (!run.ok()) return context().fail(run.status());
    const bool finished = run->block.size == 0;
    count_progress(finished);
    if (!finished) {
      emitted_ = true;
      return emit(*run, out);
    }
    reader_.reset();
    if (Status status = check_open_file(); !status.ok()) return context().fail(status);
    Lane& lane = lanes_.front();
    ++lane.done;
    lane.entered = 0;
    lane.offset = 0;
  }
}

Status FileSource::open_next_split() {
  while (!lanes_.empty() && lanes_.front().done >= splits_.size()) {
    // A finished lane stays in the snapshot only as long as it is the last one.
    if (lanes_.size() == 1) return {};
    lanes_.erase(lanes_.begin());
    const Lane& next = lanes_.front();
    splits_ = splits_of_lane(files_, options_.split_size_bytes, next.lane, next.lanes);
  }
  if (lanes_.empty()) return {};
  const Lane& lane = lanes_.front();
  split_ = splits_[lane.done];
  HUMMER_TRY(open_file(split_.file));
  const bool whole = split_.begin == 0 && split_.end == files_[split_.file].size_bytes;
  if (format_ != CompressionFormat::none && !whole) {
    return {ErrorCode::file_changed, "'" + *origin_ + "' was replaced while it was read"};
  }
  LineRange range{origin_, split_.begin, split_.end, false};
  if (format_ != CompressionFormat::none) range.end = UINT64_MAX;
  if (lane.entered != 0) {
    range.begin = lane.offset;
    range.at_line_start = true;
  }
  counted_bytes_ = 0;
  emitted_ = false;
  first_line_due_ = options_.repeat_first_line && range.begin > 0;
  if (options_.framing != nullptr) HUMMER_TRY(take_head(range));
  if (format_ == CompressionFormat::none) {
    reader_ = make_reader(range);
    return {};
  }
  auto input = make_decompressed_input(file_, format_, files_[split_.file].size_bytes);
  // Text before the place to go on at was handed out before the snapshot.
  std::uint64_t skipped = 0;
  const LineBufferPool::Lease space = pool_.take(pool_.usual_bytes(), origin_);
  while (skipped < range.begin) {
    const std::size_t want = static_cast<std::size_t>(
        std::min<std::uint64_t>(range.begin - skipped, space.buffer->size()));
    const Result<std::size_t> got = input->read({space.buffer->data(), want});
    if (!got.ok()) return got.status();
    if (*got < want) {
      return {ErrorCode::file_changed, "'" + *origin_ + "' ends before the place of the snapshot"};
    }
    skipped += *got;
  }
  reader_ = make_reader(std::move(input), range);
  return {};
}

std::unique_ptr<ByteInput> FileSource::input_from_begin() {
  const std::uint64_t size = files_[split_.file].size_bytes;
  return format_ == CompressionFormat::none ? make_plain_input(file_, 0, size)
                                            : make_decompressed_input(file_, format_, size);
}

Status FileSource::take_head(LineRange& range) {
  Result<SplitReader::Run> head =
      read_head(*input_from_begin(), *options_.framing, origin_, limits_, pool_);
  if (!head.ok()) return head.status();
  head_ = std::move(*head);
  const std::size_t size = head_.block.size;
  const std::size_t mark_bytes = options_.framing->mark_bytes();
  mark_.assign(head_.block.data + size - mark_bytes, mark_bytes);
  if (range.begin < size) {
    range.begin = size;
    range.at_line_start = true;
  }
  return {};
}

// A header may have line ends in quotes as little as in a file without them.
OperatorResult FileSource::emit_first_line(Output& out) {
  first_line_due_ = false;
  const LineRange first{origin_, 0, 1, true};
  LineLimits limits = limits_;
  limits.quote = 0;
  const auto reader = make_buffered_reader(input_from_begin(), first, limits, pool_);
  Result<SplitReader::Run> run = reader->next();
  if (!run.ok()) return context().fail(run.status());
  return emit(*run, out);
}

OperatorResult FileSource::emit(const SplitReader::Run& run, Output& out) {
  out.collector<TextBlock>()(run.block);
  out.batch().keep(run.buffer);
  return OperatorResult::more;
}

Status FileSource::open_file(std::uint32_t index) {
  if (index == open_index_) return {};
  HUMMER_TRY(check_mapped());
  mapped_ = {};
  open_index_ = UINT32_MAX;
  const InputFile& listed = files_[index];
  Files& files = connector_context(context()).platform().files();
  auto opened = files.open_for_reading(listed.path);
  if (!opened.ok()) return opened.status();
  file_ = std::move(*opened);
  origin_ = std::make_shared<const std::string>(listed.path);
  HUMMER_TRY(check_listed(files, *file_, listed));
  const Result<CompressionFormat> format = compression_of(*file_, options_);
  if (!format.ok()) return format.status();
  format_ = *format;
  file_->advise_sequential();
  // What has a framing is read: its units are walked anyway.
  if (options_.map_files && options_.framing == nullptr && format_ == CompressionFormat::none) {
    auto mapping = file_->map(0, static_cast<std::size_t>(listed.size_bytes));
    if (mapping.ok()) {
      mapped_ = BufferRef::adopt(MappedText::make(std::move(*mapping), origin_));
    } else if (mapping.status().code() == ErrorCode::file_changed) {
      return mapping.status();
    }  // else: it can't be mapped here, so it is read
  }
  open_index_ = index;
  return {};
}

Status FileSource::check_open_file() {
  return check_unchanged(connector_context(context()).platform().files(), files_[open_index_]);
}

// Blocks of a mapped file are the file itself, for as long as somebody works on them.
Status FileSource::check_mapped() {
  if (!mapped_) return {};
  HUMMER_TRY(static_cast<MappedText&>(*mapped_).check());
  return check_open_file();
}

std::unique_ptr<SplitReader> FileSource::make_reader(const LineRange& range) {
  if (mapped_) return make_mapped_reader(mapped_, range, limits_);
  const std::uint64_t first =
      options_.framing != nullptr ? first_mark_byte(range, mark_.size()) : first_byte_needed(range);
  return make_reader(make_plain_input(file_, first, files_[split_.file].size_bytes), range);
}

std::unique_ptr<SplitReader> FileSource::make_reader(std::unique_ptr<ByteInput> input,
                                                     const LineRange& range) {
  if (options_.framing == nullptr) {
    return make_buffered_reader(std::move(input), range, limits_, pool_);
  }
  return make_framed_reader(std::move(input), range, *options_.framing, mark_, limits_, pool_);
}

void FileSource::count_progress(bool finished) {
  const std::uint64_t all = split_.end - split_.begin;
  std::uint64_t read = all;
  if (!finished) {
    read = format_ == CompressionFormat::none ? reader_->position() - split_.begin
                                              : reader_->file_bytes();
    read = std::min(read, all);
  }
  if (read > counted_bytes_) context().count_bytes(read - counted_bytes_);
  counted_bytes_ = std::max(counted_bytes_, read);
}

Status FileSource::close() {
  reader_.reset();
  file_.reset();
  const Status status = check_mapped();
  mapped_ = {};
  open_index_ = UINT32_MAX;
  return status;
}

}  // namespace hummer
