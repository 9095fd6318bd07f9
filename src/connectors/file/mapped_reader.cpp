#include "connectors/file/mapped_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connectors/file/line_cut.hpp"

namespace hummer {
namespace {

static_assert(Mapping::readable_past_end >= read_slack_bytes);

// One call for many blocks is cheaper than a page fault every few.
constexpr std::size_t prefault_bytes = 4 << 20;

class MappedReader final : public SplitReader {
 public:
  MappedReader(BufferRef text, LineRange range, LineLimits limits)
      : text_(std::move(text)),
        mapped_(static_cast<const MappedText&>(*text_)),
        limits_(limits),
        begin_(std::min<std::uint64_t>(range.begin, text_->size())),
        end_(std::min<std::uint64_t>(range.end, text_->size())),
        offset_(begin_) {
    if (range.begin > 0 && !range.at_line_start && offset_ < end_) skip_partial_line();
  }

  Result<Run> next() override {
    if (offset_ >= end_) return Run{};
    if (offset_ >= prefaulted_) {
      mapped_.prefault(offset_, std::min(prefault_bytes, end_ - offset_));
      prefaulted_ = offset_ + prefault_bytes;
    }
    const char* data = text_->data() + offset_;
    const std::size_t left = text_->size() - offset_;
    std::size_t size = std::min(left, limits_.step_bytes());
    LineCut line_cut(limits_.quote);
    std::size_t searched = 0;  // no line ends before
    std::size_t cut = no_cut;
    while (true) {
      cut = line_cut(data, size, searched, end_ - offset_);
      if (cut != no_cut) break;
      if (size > limits_.max_line_bytes) {
        HUMMER_TRY(mapped_.check());
        return line_too_long(*mapped_.origin(), offset_, limits_.max_line_bytes);
      }
      if (size == left) {
        cut = size;
        break;
      }
      searched = size;
      size = std::min({left, size + limits_.step_bytes(), limits_.max_line_bytes + 1});
    }
    HUMMER_TRY(mapped_.check());
    Run run{{data, cut, offset_, mapped_.origin()}, text_};
    offset_ += cut;
    return run;
  }

  std::uint64_t position() const override { return offset_; }
  std::uint64_t file_bytes() const override { return offset_ - begin_; }

 private:
  void skip_partial_line() {
    const std::size_t from = offset_ - 1;
    const auto* newline = static_cast<const char*>(
        std::memchr(text_->data() + from, '\n', static_cast<std::size_t>(end_) - from));
    offset_ = newline ? static_cast<std::size_t>(newline - text_->data()) + 1 : end_;
  }

  BufferRef text_;
  const MappedText& mapped_;
  LineLimits limits_;
  std::size_t begin_;
  std::size_t end_;
  std::size_t offset_;  // of the next line
  std::size_t prefaulted_ = 0;
};

}  // namespace

MappedText::MappedText(std::unique_ptr<Mapping> mapping, std::shared_ptr<const std::string> origin)
    // Buffers are written only while unique, and nobody writes into a source's blocks.
    : Buffer(const_cast<char*>(mapping->data()), mapping->size()),
      mapping_(std::move(mapping)),
      origin_(std::move(origin)) {}

MappedText* MappedText::make(std::unique_ptr<Mapping> mapping,
                             std::shared_ptr<const std::string> origin) {
  return new MappedText(std::move(mapping), std::move(origin));
}

Status MappedText::check() const {
  if (!mapping_->truncated()) return {};
  return {ErrorCode::file_changed, "'" + *origin_ + "' was truncated while it was read"};
}

std::unique_ptr<SplitReader> make_mapped_reader(BufferRef text, LineRange range,
                                                LineLimits limits) {
  return std::make_unique<MappedReader>(std::move(text), std::move(range), limits);
}

}  // namespace hummer
