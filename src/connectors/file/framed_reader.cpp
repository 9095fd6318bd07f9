#include "connectors/file/framed_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hummer {
namespace {

constexpr std::size_t head_step_bytes = 4 << 10;

Status bad_unit(const std::string& origin, std::uint64_t offset, const std::string& why) {
  return {ErrorCode::corrupt_file, "'" + origin + "', byte " + std::to_string(offset) + ": " + why};
}

Status unit_too_long(const std::string& origin, std::uint64_t offset, std::size_t most) {
  return {ErrorCode::limit_exceeded,
          "'" + origin + "': what begins at byte " + std::to_string(offset) + " is longer than " +
              std::to_string(most) + " bytes: raise the option max_line_bytes"};
}

class FramedReader final : public SplitReader {
 public:
  FramedReader(std::unique_ptr<ByteInput> input, LineRange range, const RecordFraming& framing,
               std::string mark, LineLimits limits, LineBufferPool& pool)
      : input_(std::move(input)),
        range_(std::move(range)),
        framing_(framing),
        mark_(std::move(mark)),
        limits_(limits),
        pool_(pool),
        offset_(range_.begin),
        entering_(!range_.at_line_start),
        finished_(range_.begin >= range_.end) {}

  Result<Run> next() override {
    if (finished_) return Run{};
    if (std::exchange(entering_, false)) HUMMER_TRY(skip_to_mark());
    if (finished_) return Run{};
    LineBufferPool::Lease lease =
        pool_.take(std::max(limits_.step_bytes(), carry_.size()), range_.origin);
    std::memcpy(lease.buffer->data(), carry_.data(), carry_.size());
    std::size_t size = carry_.size();
    std::size_t target = std::max(limits_.step_bytes(), size);
    std::size_t cut = 0;
    while (true) {
      if (target > lease.buffer->size()) lease = enlarge(lease, size, target);
      if (!input_ended_ && size < target) {
        const Result<std::size_t> got = input_->read({lease.buffer->data() + size, target - size});
        if (!got.ok()) return got.status();
        input_ended_ = *got < target - size;
        size += *got;
      }
      std::size_t needed = 0;
      HUMMER_TRY(find_cut({lease.buffer->data(), size}, cut, needed));
      if (cut > 0) break;
      if (input_ended_) {
        finished_ = true;
        if (size == 0) return Run{};
        return bad_unit(*range_.origin, offset_, "the file ends inside of what begins here");
      }
      target = needed != RecordFraming::unknown ? needed : size + limits_.step_bytes();
      if (target > limits_.max_line_bytes) {
        return unit_too_long(*range_.origin, offset_, limits_.max_line_bytes);
      }
    }
    Run run{{lease.buffer->data(), cut, offset_, lease.buffer->origin()}, std::move(lease.ref)};
    offset_ += cut;
    finished_ = offset_ >= range_.end;
    carry_.assign(run.block.data + cut, finished_ ? 0 : size - cut);
    return run;
  }

  std::uint64_t position() const override { return offset_; }
  std::uint64_t file_bytes() const override { return input_->file_bytes(); }

 private:
  // Behind the units of the split that are whole. None is: `needed`, of the first one.
  Status find_cut(std::string_view text, std::size_t& cut, std::size_t& needed) const {
    cut = 0;
    while (cut < text.size() && offset_ + cut < range_.end) {
      const std::string_view rest = text.substr(cut);
      const Result<std::size_t> unit = framing_.unit_bytes(rest);
      if (!unit.ok()) return bad_unit(*range_.origin, offset_ + cut, unit.status().message());
      needed = *unit;
      if (needed == RecordFraming::unknown || needed > rest.size()) return {};
      if (!rest.substr(0, needed).ends_with(mark_)) {
        return bad_unit(*range_.origin, offset_ + cut,
                        "the " + std::to_string(needed) +
                            " bytes from here on do not end with the file's mark: it is damaged");
      }
      cut += needed;
    }
    return {};
  }

  LineBufferPool::Lease enlarge(const LineBufferPool::Lease& old, std::size_t size,
                                std::size_t target) {
    LineBufferPool::Lease lease = pool_.take(target, range_.origin);
    std::memcpy(lease.buffer->data(), old.buffer->data(), size);
    return lease;
  }

  // To the first unit behind a mark. Stops at the split's end.
  Status skip_to_mark() {
    std::uint64_t at = first_mark_byte(range_, mark_.size());
    std::string chunk;
    while (at + mark_.size() < range_.end) {
      const std::size_t before = chunk.size();
      chunk.resize(before + limits_.step_bytes());
      const Result<std::size_t> got = input_->read({chunk.data() + before, limits_.step_bytes()});
      if (!got.ok()) return got.status();
      chunk.resize(before + *got);
      input_ended_ = *got < limits_.step_bytes();
      const std::size_t found = chunk.find(mark_);
      if (found != std::string::npos) {
        offset_ = at + found + mark_.size();
        finished_ = offset_ >= range_.end;
        carry_ = chunk.substr(found + mark_.size());
        return {};
      }
      if (input_ended_) break;
      const std::size_t done = chunk.size() - std::min(chunk.size(), mark_.size() - 1);
      chunk.erase(0, done);
      at += done;
    }
    finished_ = true;
    return {};
  }

  std::unique_ptr<ByteInput> input_;
  LineRange range_;
  const RecordFraming& framing_;
  const std::string mark_;
  LineLimits limits_;
  LineBufferPool& pool_;
  std::uint64_t offset_;  // of the next unit
  bool entering_;
  bool finished_;
  bool input_ended_ = false;
  std::string carry_;  // read, but not handed out
};

}  // namespace

Result<SplitReader::Run> read_head(ByteInput& input, const RecordFraming& framing,
                                   const std::shared_ptr<const std::string>& origin,
                                   LineLimits limits, LineBufferPool& pool) {
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + head_step_bytes);
    const Result<std::size_t> got = input.read({text.data() + before, head_step_bytes});
    if (!got.ok()) return got.status();
    text.resize(before + *got);
    const Result<std::size_t> head = framing.head_bytes(text);
    if (!head.ok()) return bad_unit(*origin, 0, head.status().message());
    if (*head != RecordFraming::unknown && *head > limits.max_line_bytes) {
      return unit_too_long(*origin, 0, limits.max_line_bytes);
    }
    if (*head <= text.size()) {
      text.resize(*head);
      break;
    }
    if (*got < head_step_bytes) {
      return bad_unit(*origin, 0, "the file ends inside of its head");
    }
    if (text.size() > limits.max_line_bytes) {
      return unit_too_long(*origin, 0, limits.max_line_bytes);
    }
  }
  LineBufferPool::Lease lease = pool.take(text.size(), origin);
  std::memcpy(lease.buffer->data(), text.data(), text.size());
  return SplitReader::Run{{lease.buffer->data(), text.size(), 0, lease.buffer->origin()},
                          std::move(lease.ref)};
}

std::unique_ptr<SplitReader> make_framed_reader(std::unique_ptr<ByteInput> input, LineRange range,
                                                const RecordFraming& framing, std::string mark,
                                                LineLimits limits, LineBufferPool& pool) {
  return std::make_unique<FramedReader>(std::move(input), std::move(range), framing,
                                        std::move(mark), limits, pool);
}

}  // namespace hummer
