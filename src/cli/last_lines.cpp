#include "cli/last_lines.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "connectors/file/byte_input.hpp"
#include "connectors/file/file_listing.hpp"

namespace hummer {
namespace {

constexpr std::size_t step_bytes = 64 << 10;
constexpr std::size_t first_bytes_kept = 64 << 10;

// Where the last `most` lines of data[0, size) begin, looked for backwards in steps; a file without
// so many begins at 0.
Result<std::uint64_t> find_last_lines(ReadableFile& file, std::uint64_t size, std::size_t most) {
  std::vector<char> space(step_bytes);
  std::size_t found = 0;
  for (std::uint64_t end = size; end > 0;) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(end, step_bytes));
    const Result<std::size_t> got = file.read_at(end - step, std::span(space).first(step));
    if (!got.ok()) return got.status();
    if (*got < step) {
      return Status(ErrorCode::file_changed, "'" + file.path() + "' became shorter as it was read");
    }
    for (std::size_t i = step; i-- > 0;) {
      // The last byte ends the last line.
      if (space[i] != '\n' || end - step + i + 1 == size) continue;
      if (++found == most) return end - step + i + 1;
    }
    end -= step;
  }
  return std::uint64_t{0};
}

}  // namespace

void LastLines::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    open_.append(part.substr(0, longest_line_bytes - std::min(longest_line_bytes, open_.size())));
    if (end == std::string_view::npos) return;
    end_line();
    bytes.remove_prefix(end + 1);
  }
}

void LastLines::finish() {
  if (!open_.empty()) end_line();
}

void LastLines::end_line() {
  if (open_.ends_with('\r')) open_.pop_back();
  lines_.push_back(std::exchange(open_, {}));
  if (lines_.size() <= most_) return;
  lines_.pop_front();
  dropped_ = true;
}

Result<FileTail> read_last_lines(Files& files, const std::string& path, std::size_t most) {
  auto opened = files.open_for_reading(path);
  if (!opened.ok()) return opened.status();
  const std::shared_ptr<ReadableFile> file = std::move(*opened);
  const std::uint64_t size = file->size_bytes();
  const Result<CompressionFormat> format = compression_of(*file, {});
  if (!format.ok()) return format.status();
  FileTail tail;
  tail.bytes = size;
  tail.compressed = *format != CompressionFormat::none;
  std::uint64_t begin = 0;
  if (!tail.compressed) {
    tail.first_bytes.resize(std::min<std::uint64_t>(size, first_bytes_kept));
    const Result<std::size_t> got = file->read_at(0, tail.first_bytes);
    if (!got.ok()) return got.status();
    tail.first_bytes.resize(*got);
    const Result<std::uint64_t> found = find_last_lines(*file, size, most);
    if (!found.ok()) return found.status();
    begin = *found;
  }
  const std::unique_ptr<ByteInput> input = tail.compressed
                                               ? make_decompressed_input(file, *format, size)
                                               : make_plain_input(file, begin, size);
  LastLines last(most);
  std::vector<char> space(step_bytes);
  while (true) {
    const Result<std::size_t> got = input->read(space);
    if (!got.ok()) return got.status();
    const std::string_view bytes(space.data(), *got);
    if (tail.compressed && tail.first_bytes.size() < first_bytes_kept) {
      tail.first_bytes += bytes.substr(0, first_bytes_kept - tail.first_bytes.size());
    }
    last.add(bytes);
    if (*got < space.size()) break;
  }
  last.finish();
  tail.lines = last.lines();
  tail.whole = begin == 0 && last.whole();
  return tail;
}

}  // namespace hummer
