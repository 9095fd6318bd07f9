#include "cli/commands/tail_files.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cli/last_lines.hpp"
#include "cli/record_tail.hpp"
#include "connectors/file/byte_input.hpp"
#include "connectors/file/file_listing.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds tail_look_interval_ns = milliseconds(250);
constexpr std::size_t tail_step_bytes = 64 << 10;
// Objects are asked for in few requests.
constexpr std::size_t object_step_bytes = 1 << 20;

// The records of one file, as far as it has been read; failures name it.
class FileRecords {
 public:
  FileRecords(const std::string& path, std::unique_ptr<RecordReader> made, TailPrinter& printer,
              std::uint64_t most)
      : path_(path), reader_(std::move(made)), tail_(*reader_, printer, most) {}

  RecordReader& reader() { return *reader_; }
  RecordTail& tail() { return tail_; }
  Status add(std::string_view bytes) { return named(tail_.add(bytes)); }
  Status finish() { return named(tail_.finish()); }

 private:
  Status named(const Status& status) const {
    return status.ok() ? status : status.with_context("'" + path_ + "'");
  }

  const std::string path_;
  const std::unique_ptr<RecordReader> reader_;
  RecordTail tail_;
};

// What is behind the place that a file was looked at to.
class FollowedFile {
 public:
  explicit FollowedFile(std::uint64_t seen, std::unique_ptr<FileRecords> records = nullptr)
      : seen_(seen), records_(std::move(records)) {}

  Status look(Tail& tail, const std::string& path, bool named) {
    auto file = tail.platform.files().open_for_reading(path);
    if (!file.ok()) return {};  // gone: as one that does not grow
    if ((*file)->size_bytes() < seen_) {
      (void)tail.platform.write_standard(2, fmt::format("hummer tail: '{}' was cut off\n", path));
      seen_ = 0;
      open_.clear();
    }
    std::string space(tail_step_bytes, ' ');
    bool begun = false;
    while (seen_ < (*file)->size_bytes() && !tail.printer.closed()) {
      const Result<std::size_t> got = (*file)->read_at(seen_, space);
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      const std::string_view bytes(space.data(), *got);
      if (seen_ == 0) HUMMER_TRY(begin_anew(tail, path, bytes));
      if (!std::exchange(begun, true)) {
        const std::string_view first_bytes = seen_ == 0 ? bytes : std::string_view();
        if (Status status = tail.printer.begin(path, first_bytes, named); !status.ok()) {
          return status.with_context("'" + path + "'");
        }
      }
      const bool is_first = seen_ == 0;
      seen_ += *got;
      if (records_ != nullptr) {
        HUMMER_TRY(records_->add(bytes));
      } else {
        add_lines(tail, bytes, is_first);
      }
    }
    tail.printer.flush();
    return {};
  }

 private:
  Status begin_anew(const Tail& tail, const std::string& path, std::string_view first_bytes) {
    auto reader = tail.records.reader_of(first_bytes);
    if (!reader.ok()) return reader.status();
    records_ = *reader == nullptr
                   ? nullptr
                   : std::make_unique<FileRecords>(path, std::move(*reader), tail.printer, 0);
    return {};
  }

  void add_lines(Tail& tail, std::string_view bytes, bool is_first) {
    open_ += bytes;
    std::size_t at = 0;
    for (std::size_t end = 0; (end = open_.find('\n', at)) != std::string::npos; at = end + 1) {
      tail.printer.line(std::string_view(open_).substr(at, end - at),
                        std::exchange(is_first, false));
    }
    open_.erase(0, at);
    if (open_.size() > LastLines::longest_line_bytes) open_.resize(LastLines::longest_line_bytes);
  }

  std::uint64_t seen_;
  std::unique_ptr<FileRecords> records_;  // null: it is lines
  std::string open_;
};

int follow_files(Tail& tail, std::map<std::string, FollowedFile>& followed) {
  while (!tail.printer.closed()) {
    (void)tail.platform.run_until([] { return false; },
                                  tail.platform.now() + tail_look_interval_ns);
    const auto listed = list_input_files(tail.platform.files(), tail.source);
    for (const InputFile& file : listed.ok() ? *listed : std::vector<InputFile>()) {
      FollowedFile& each = followed.try_emplace(file.path, 0).first->second;
      if (Status status = each.look(tail, file.path, followed.size() > 1); !status.ok()) {
        tail.printer.flush();
        return report(tail.platform, status);
      }
    }
  }
  return finish_tail(tail);
}

// A file as it is now.
struct OpenedFile {
  std::shared_ptr<ReadableFile> file;
  std::uint64_t size = 0;
  CompressionFormat compression = CompressionFormat::none;
  std::size_t step_bytes = tail_step_bytes;

  std::unique_ptr<ByteInput> input(std::uint64_t begin) const {
    return compression == CompressionFormat::none
               ? make_plain_input(file, begin, size)
               : make_decompressed_input(file, compression, size);
  }
};

Result<OpenedFile> open_file(Files& files, const std::string& path) {
  auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  OpenedFile opened{.file = std::move(*file)};
  opened.size = opened.file->size_bytes();
  const Result<CompressionFormat> format = compression_of(*opened.file, {});
  if (!format.ok()) return format.status();
  opened.compression = *format;
  const auto store = files.object_store(path);
  if (store.ok() && *store != nullptr) opened.step_bytes = object_step_bytes;
  return opened;
}

// Null: the file is lines.
Result<std::unique_ptr<RecordReader>> reader_of(const Tail& tail, const OpenedFile& opened) {
  if (!tail.records.may_be_any) return tail.records.reader_of({});
  std::string first_bytes(telling_bytes, ' ');
  const Result<std::size_t> got = opened.input(0)->read(first_bytes);
  if (!got.ok()) return got.status();
  return tail.records.reader_of(first_bytes.substr(0, *got));
}

// All that there is of the input, or `most` bytes.
Status add_all(FileRecords& records, ByteInput& input, std::size_t step_bytes,
               std::uint64_t most = UINT64_MAX) {
  std::string space(step_bytes, ' ');
  while (most > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(space.size(), most);
    const Result<std::size_t> got = input.read(std::span(space).first(wanted));
    if (!got.ok()) return got.status();
    HUMMER_TRY(records.add(std::string_view(space).substr(0, *got)));
    if (*got < wanted) break;
    most -= wanted;
  }
  return {};
}

// The last records, with what is not whole yet kept for more where the file is followed.
Status tail_records(const Tail& tail, const OpenedFile& opened, FileRecords& records) {
  std::uint64_t begin = 0;
  if (opened.compression == CompressionFormat::none) {
    const Result<LastRecords> last = find_last_records(*opened.file, opened.size, records.reader(),
                                                       tail.lines, opened.step_bytes);
    if (!last.ok()) return last.status();
    HUMMER_TRY(add_all(records, *opened.input(0), opened.step_bytes, last->head_bytes));
    begin = last->begin;
    records.tail().go_on_at(begin);
  }
  const Status status = add_all(records, *opened.input(begin), opened.step_bytes);
  records.tail().say_kept();
  return !status.ok() || tail.follow ? status : records.finish();
}

}  // namespace

int finish_tail(Tail& tail) {
  tail.printer.flush();
  return tail.printer.bad_lines() == 0 ? 0 : 1;
}

int report_source(Tail& tail, const std::string& source, const Status& status) {
  tail.printer.flush();
  return report(tail.platform, status.with_context("'" + source + "'"));
}

int tail_files(Tail& tail) {
  const auto listed = list_input_files(tail.platform.files(), tail.source);
  if (!listed.ok()) return report(tail.platform, listed.status());
  std::map<std::string, FollowedFile> followed;
  bool damaged = false;
  for (const InputFile& file : *listed) {
    const bool named = listed->size() > 1;
    const Result<OpenedFile> opened = open_file(tail.platform.files(), file.path);
    if (!opened.ok()) return report(tail.platform, opened.status());
    if (tail.follow && opened->compression != CompressionFormat::none) {
      return report(
          tail.platform,
          {ErrorCode::invalid_argument,
           fmt::format("'{}' is compressed, and does not grow: leave out --follow", file.path)});
    }
    auto reader = reader_of(tail, *opened);
    if (!reader.ok()) return report(tail.platform, reader.status());
    if (*reader != nullptr) {
      (void)tail.printer.begin(file.path, "", named);
      auto records =
          std::make_unique<FileRecords>(file.path, std::move(*reader), tail.printer, tail.lines);
      const Status status = tail_records(tail, *opened, *records);
      tail.printer.flush();
      if (!status.ok()) {
        // Others may be whole, but nothing is known of what comes in this one.
        const int code = report(tail.platform, status);
        if (tail.follow) return code;
        damaged = true;
      }
      followed.try_emplace(file.path, opened->size, std::move(records));
      continue;
    }
    const Result<FileTail> last = read_last_lines(tail.platform.files(), file.path, tail.lines);
    if (!last.ok()) return report(tail.platform, last.status());
    if (Status status = tail.printer.begin(file.path, last->first_bytes, named); !status.ok()) {
      return report_source(tail, file.path, status);
    }
    bool is_first = last->whole;
    for (const std::string& line : last->lines) {
      tail.printer.line(line, std::exchange(is_first, false));
    }
    tail.printer.flush();
    followed.try_emplace(file.path, last->bytes);
  }
  const int code = tail.follow ? follow_files(tail, followed) : finish_tail(tail);
  return code == 0 && damaged ? 1 : code;
}

}  // namespace hummer
