#include "connectors/file_store/unit_reader.hpp"

#include <algorithm>
#include <utility>

#include "connectors/file/byte_input.hpp"
#include "connectors/file/file_listing.hpp"

namespace hummer {
namespace {

// What the line readers take. It knows how far it was read, to ask ahead for what follows.
class StoredText final : public ReadableFile {
 public:
  StoredText(std::unique_ptr<StoreReader> reader, StoredFile file)
      : reader_(std::move(reader)), file_(std::move(file)) {}

  const std::string& path() const override { return file_.path; }
  std::uint64_t size_bytes() const override { return file_.size_bytes; }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    Result<std::size_t> got = reader_->read_at(offset, into);
    if (got.ok()) next_ = offset + *got;
    return got;
  }
  Result<std::unique_ptr<Mapping>> map(std::uint64_t, std::size_t) override {
    return Status(ErrorCode::limit_exceeded, "'" + file_.path + "' can't be mapped");
  }
  void advise_sequential() override {}

  bool is_at_hand(std::size_t length) {
    const std::uint64_t left = file_.size_bytes - std::min(file_.size_bytes, next_);
    length = static_cast<std::size_t>(std::min<std::uint64_t>(length, left));
    return length == 0 || reader_->is_at_hand(next_, length);
  }

 private:
  const std::unique_ptr<StoreReader> reader_;
  const StoredFile file_;
  std::uint64_t next_ = 0;
};

}  // namespace

Result<std::unique_ptr<UnitReader>> UnitReader::open(FileStore& store, const FileUnit& unit,
                                                     std::uint64_t from,
                                                     const FileSourceOptions& options,
                                                     LineBufferPool& pool,
                                                     std::function<void()> wake) {
  std::unique_ptr<UnitReader> reader(new UnitReader(store, unit, from));
  HUMMER_TRY(reader->begin(options, pool, std::move(wake)));
  return reader;
}

Status UnitReader::begin(const FileSourceOptions& options, LineBufferPool& pool,
                         std::function<void()> wake) {
  auto opened = store_.open(unit_.file(), std::move(wake));
  if (!opened.ok()) return opened.status();
  file_ = std::make_shared<StoredText>(std::move(*opened), unit_.file());
  origin_ = std::make_shared<const std::string>(unit_.path);
  const Result<CompressionFormat> format = compression_of(*file_, options);
  if (!format.ok()) return format.status();
  format_ = *format;
  const LineLimits limits{options.block_size_bytes, options.max_line_bytes, options.quote};
  step_bytes_ = limits.step_bytes();
  LineRange range{origin_, std::max(unit_.begin, from_), unit_.end, from_ != 0};
  if (format_ != CompressionFormat::none) range.end = UINT64_MAX;
  if (options.repeat_first_line && range.begin > 0) HUMMER_TRY(read_first_line(limits, pool));
  auto text = input(first_byte_needed(range));
  if (format_ != CompressionFormat::none) {
    // What is before the place to go on at was handed out before the snapshot.
    const LineBufferPool::Lease space = pool.take(pool.usual_bytes(), origin_);
    for (std::uint64_t skipped = 0; skipped < range.begin;) {
      const auto want = static_cast<std::size_t>(
          std::min<std::uint64_t>(range.begin - skipped, space.buffer->size()));
      const Result<std::size_t> got = text->read({space.buffer->data(), want});
      if (!got.ok()) return got.status();
      if (*got < want) {
        return {ErrorCode::file_changed,
                "'" + unit_.path + "' ends before the place of the snapshot"};
      }
      skipped += *got;
    }
  }
  lines_ = make_buffered_reader(std::move(text), range, limits, pool);
  return {};
}

std::unique_ptr<ByteInput> UnitReader::input(std::uint64_t offset) const {
  if (format_ == CompressionFormat::none) {
    return make_plain_input(file_, offset, unit_.size_bytes);
  }
  return make_decompressed_input(file_, format_, unit_.size_bytes);
}

Status UnitReader::read_first_line(LineLimits limits, LineBufferPool& pool) {
  limits.quote = 0;  // a header may have line ends in quotes as little as in a file without them
  const LineRange first{origin_, 0, 1, true};
  Result<SplitReader::Run> run = make_buffered_reader(input(0), first, limits, pool)->next();
  if (!run.ok()) return run.status();
  first_line_ = std::move(*run);
  return {};
}

bool UnitReader::is_at_hand() {
  return first_line_.block.size > 0 || static_cast<StoredText&>(*file_).is_at_hand(step_bytes_);
}

Result<SplitReader::Run> UnitReader::next() {
  if (first_line_.block.size > 0) return std::exchange(first_line_, {});
  Result<SplitReader::Run> run = lines_->next();
  if (!run.ok()) return run;
  begun_ = true;
  if (run->block.size > 0 || store_.files_appear_whole()) return run;
  const Result<StoredFile> now = store_.look_at(unit_.path);
  // What was read is what was taken, also where somebody has removed it since.
  if (now.status().code() == ErrorCode::not_found) return run;
  if (!now.ok()) return now.status();
  const bool same = now->size_bytes == unit_.size_bytes && now->version == unit_.version &&
                    now->modified_ms == unit_.modified_ms;
  if (same) return run;
  return Status(ErrorCode::file_changed, "'" + unit_.path + "' was changed while it was read");
}

std::uint64_t UnitReader::bytes_read() const {
  const std::uint64_t all = unit_.end - unit_.begin;
  const std::uint64_t read =
      format_ == CompressionFormat::none ? lines_->position() - unit_.begin : lines_->file_bytes();
  return std::min(read, all);
}

}  // namespace hummer
