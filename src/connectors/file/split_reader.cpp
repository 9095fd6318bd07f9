#include "connectors/file/split_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connectors/file/line_cut.hpp"

namespace hummer {
namespace {

// How far to read behind the end of a split for the rest of its last line.
constexpr std::size_t tail_bytes = 4 << 10;

class BufferedReader final : public SplitReader {
 public:
  BufferedReader(std::unique_ptr<ByteInput> input, LineRange range, LineLimits limits,
                 LineBufferPool& pool)
      : input_(std::move(input)),
        range_(std::move(range)),
        limits_(limits),
        pool_(pool),
        offset_(range_.begin),
        skipping_(range_.begin > 0 && !range_.at_line_start),
        finished_(range_.begin >= range_.end) {}

  Result<Run> next() override {
    if (skipping_) HUMMER_TRY(skip_partial_line());
    if (finished_) return Run{};
    LineBufferPool::Lease lease = pool_.take(limits_.step_bytes(), range_.origin);
    std::memcpy(lease.buffer->data(), carry_.data(), carry_.size());
    std::size_t size = carry_.size();
    std::size_t cut = no_cut;
    LineCut line_cut(limits_.quote);
    std::size_t searched = 0;  // no line ends before
    const std::uint64_t until_end = range_.end - offset_;
    while (true) {
      const std::size_t target =
          std::min(searched + limits_.step_bytes(), limits_.max_line_bytes + 1);
      if (target > lease.buffer->size()) lease = enlarge(lease, size, target);
      HUMMER_TRY(fill(lease.buffer->data(), size, target, until_end));
      cut = line_cut(lease.buffer->data(), size, searched, until_end);
      if (cut != no_cut) break;
      if (size > limits_.max_line_bytes) {
        return line_too_long(*range_.origin, offset_, limits_.max_line_bytes);
      }
      if (input_ended_) {
        cut = size;
        break;
      }
      searched = size;
    }
    Run run{{lease.buffer->data(), cut, offset_, lease.buffer->origin()}, std::move(lease.ref)};
    offset_ += cut;
    finished_ = offset_ >= range_.end || (input_ended_ && cut == size);
    carry_.assign(run.block.data + cut, finished_ ? 0 : size - cut);
    return run;
  }

  std::uint64_t position() const override { return offset_; }
  std::uint64_t file_bytes() const override { return input_->file_bytes(); }

 private:
  // Reads up to `target` bytes, but not far behind the split's end.
  Status fill(char* data, std::size_t& size, std::size_t target, std::uint64_t until_end) {
    if (input_ended_ || size >= target) return {};
    std::size_t want = target - size;
    if (size < until_end && until_end - size < want) {
      want = std::min(want, static_cast<std::size_t>(until_end - size) + tail_bytes);
    }
    const Result<std::size_t> got = input_->read({data + size, want});
    if (!got.ok()) return got.status();
    size += *got;
    input_ended_ = *got < want;
    return {};
  }

  LineBufferPool::Lease enlarge(const LineBufferPool::Lease& old, std::size_t size,
                                std::size_t target) {
    const std::size_t doubled = std::min(old.buffer->size() * 2, limits_.max_line_bytes + 1);
    LineBufferPool::Lease lease = pool_.take(std::max(doubled, target), range_.origin);
    std::memcpy(lease.buffer->data(), old.buffer->data(), size);
    return lease;
  }

  // Leaves out the rest of the line that began before the split. Stops at the split's end: a
  // line that goes on behind it leaves nothing to read here.
  Status skip_partial_line() {
    skipping_ = false;
    std::uint64_t at = range_.begin - 1;
    char chunk[tail_bytes];
    const std::size_t step = std::min(tail_bytes, limits_.step_bytes());
    while (at + 1 < range_.end) {
      const Result<std::size_t> got = input_->read({chunk, step});
      if (!got.ok()) return got.status();
      if (const void* newline = std::memchr(chunk, '\n', *got)) {
        const auto line = static_cast<std::size_t>(static_cast<const char*>(newline) - chunk) + 1;
        offset_ = at + line;
        finished_ = offset_ >= range_.end;
        carry_.assign(chunk + line, *got - line);
        input_ended_ = *got < step;
        return {};
      }
      at += *got;
      if (*got < step) break;
    }
    finished_ = true;
    return {};
  }

  std::unique_ptr<ByteInput> input_;
  LineRange range_;
  LineLimits limits_;
  LineBufferPool& pool_;
  std::uint64_t offset_;  // of the next line
  bool skipping_;
  bool finished_;
  bool input_ended_ = false;
  std::string carry_;  // read, but not handed out: the begin of the next line
};

}  // namespace

std::unique_ptr<SplitReader> make_buffered_reader(std::unique_ptr<ByteInput> input, LineRange range,
                                                  LineLimits limits, LineBufferPool& pool) {
  return std::make_unique<BufferedReader>(std::move(input), std::move(range), limits, pool);
}

Status line_too_long(const std::string& origin, std::uint64_t offset, std::size_t max_line_bytes) {
  return {ErrorCode::limit_exceeded,
          "'" + origin + "': the line at byte " + std::to_string(offset) + " is longer than " +
              std::to_string(max_line_bytes) + " bytes: raise the option max_line_bytes"};
}

}  // namespace hummer
