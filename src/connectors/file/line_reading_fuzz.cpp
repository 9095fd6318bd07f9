// Any bytes, plain or compressed, cut in any way, against a straightforward
// splitter: every line once, in the split in which it begins, byte for byte, or
// a failure for exactly the inputs that have a line above the limit.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "connectors/file/file_splits.hpp"
#include "connectors/file/mapped_reader.hpp"
#include "connectors/file/split_reader.hpp"

namespace {

using namespace hummer;

void require(bool condition) {
  if (!condition) std::abort();
}

class MemoryMapping final : public Mapping {
 public:
  explicit MemoryMapping(const std::string& text) : text_(text), size_(text.size()) {
    text_.append(readable_past_end, '\n');  // must never count
  }
  const char* data() const override { return text_.data(); }
  std::size_t size() const override { return size_; }
  bool truncated() const override { return false; }
  void release_before(std::size_t) override {}
  void prefault(std::size_t, std::size_t) override {}

 private:
  std::string text_;
  std::size_t size_;
};

class MemoryFile final : public ReadableFile {
 public:
  explicit MemoryFile(std::string text) : text_(std::move(text)) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return text_.size(); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (offset >= text_.size()) return std::size_t{0};
    return text_.copy(into.data(), into.size(), static_cast<std::size_t>(offset));
  }
  Result<std::unique_ptr<Mapping>> map(std::uint64_t, std::size_t) override {
    return std::unique_ptr<Mapping>(std::make_unique<MemoryMapping>(text_));
  }
  void advise_sequential() override {}

 private:
  std::string text_;
  std::string path_ = "fuzz";
};

struct Line {
  std::size_t begin;
  std::size_t end;  // behind its '\n'
};

std::vector<Line> reference_lines(const std::string& text) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
    lines.push_back({at, end});
    at = end;
  }
  return lines;
}

std::size_t length_of(const std::string& text, const Line& line) {
  return line.end - line.begin - (text[line.end - 1] == '\n' ? 1 : 0);
}

// Reads one range, stopping and starting again at a block's end after `restart_after` blocks.
template <typename MakeReader>
void check_range(const std::string& text, std::uint64_t begin, std::uint64_t end,
                 const LineLimits& limits, std::size_t restart_after, MakeReader make_reader) {
  std::vector<Line> expected = reference_lines(text);
  std::erase_if(expected,
                [&](const Line& line) { return line.begin < begin || line.begin >= end; });
  const bool too_long = std::any_of(expected.begin(), expected.end(), [&](const Line& line) {
    return length_of(text, line) > limits.max_line_bytes;
  });
  const auto origin = std::make_shared<const std::string>("fuzz");
  auto reader = make_reader(LineRange{origin, begin, end, false});
  std::size_t at = expected.empty() ? 0 : expected.front().begin;
  std::size_t blocks = 0;
  while (true) {
    const auto run = reader->next();
    if (!run.ok()) {
      require(run.status().code() == ErrorCode::limit_exceeded && too_long);
      return;
    }
    const TextBlock& block = run->block;
    if (block.size == 0) break;
    require(!expected.empty() && block.offset == at && at + block.size <= expected.back().end);
    require(block.view() == std::string_view(text).substr(at, block.size));
    const bool whole = block.data[block.size - 1] == '\n' || at + block.size == text.size();
    const bool one_line = block.view().substr(0, block.size - 1).find('\n') == std::string::npos;
    require(whole && (block.size <= limits.block_bytes || one_line));
    at += block.size;
    require(reader->position() == at);
    if (++blocks == restart_after) reader = make_reader(LineRange{origin, at, end, true});
  }
  require(!too_long && at == (expected.empty() ? 0 : expected.back().end));
}

void check_plain(const std::string& text, std::uint64_t split, std::uint32_t lanes,
                 const LineLimits& limits, std::size_t restart_after) {
  const InputFile listed{"fuzz", text.size(), false};
  LineBufferPool pool(limits.step_bytes());
  const auto file = std::make_shared<MemoryFile>(text);
  const BufferRef mapped = BufferRef::adopt(MappedText::make(
      std::move(file->map(0, text.size())).value(), std::make_shared<const std::string>("fuzz")));
  std::uint64_t covered = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (const FileSplit& part : splits_of_lane({&listed, 1}, split, lane, lanes)) {
      covered += part.end - part.begin;
      check_range(text, part.begin, part.end, limits, restart_after, [&](const LineRange& range) {
        return make_buffered_reader(make_plain_input(file, first_byte_needed(range), text.size()),
                                    range, limits, pool);
      });
      check_range(text, part.begin, part.end, limits, restart_after, [&](const LineRange& range) {
        return make_mapped_reader(mapped, range, limits);
      });
    }
  }
  require(covered == text.size());
}

// Reads `packed` as compressed text: once in one piece, then as lines.
void check_compressed(const std::string& packed, CompressionFormat format,
                      const LineLimits& limits) {
  const auto file = std::make_shared<MemoryFile>(packed);
  constexpr std::size_t most_bytes = 1 << 16;
  std::string text(most_bytes, '\0');
  const auto got = make_decompressed_input(file, format, packed.size())->read(text);
  if (got.ok() && *got == most_bytes) return;
  LineBufferPool pool(limits.step_bytes());
  const LineRange range{std::make_shared<const std::string>("fuzz"), 0, UINT64_MAX, false};
  if (!got.ok()) {
    const auto reader = make_buffered_reader(make_decompressed_input(file, format, packed.size()),
                                             range, limits, pool);
    std::size_t bytes = 0;
    while (true) {
      const auto run = reader->next();
      if (!run.ok()) return;
      require(run->block.size > 0);  // damaged input never ends in good order
      bytes += run->block.size;
      if (bytes > most_bytes) return;
    }
  }
  text.resize(*got);
  check_range(text, 0, UINT64_MAX, limits, 0, [&](const LineRange& whole) {
    return make_buffered_reader(make_decompressed_input(file, format, packed.size()), whole, limits,
                                pool);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 6 || size > 5000) return 0;
  LineLimits limits;
  limits.block_bytes = 1 + data[0];
  limits.max_line_bytes = data[1] < 128 ? 1 + data[1] : 1 << 20;
  const std::uint64_t split = 1 + data[2] + (data[3] & 15u) * 256u;
  const std::uint32_t lanes = 1 + (data[3] >> 4) % 4;
  const std::size_t restart_after = data[4] % 8;
  const std::string text(reinterpret_cast<const char*>(data) + 6, size - 6);
  if (data[5] % 3 == 0 && size / split < 200) {
    check_plain(text, split, lanes, limits, restart_after);
  } else if (data[5] % 3 == 1) {
    check_compressed(text, CompressionFormat::gzip, limits);
  } else {
    check_compressed(text, CompressionFormat::zstd, limits);
  }
  return 0;
}
