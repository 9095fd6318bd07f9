// What grep needs RE2 for; without it pattern_mapper_absent.cpp is compiled.
#include <re2/re2.h>

#include <charconv>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "text_grep.hpp"
#include "word_count.hpp"

namespace hummer::batch {
namespace {

class GrepMapper final : public RecordMapper<GrepMapper> {
 public:
  Status open(TaskContext& context) override {
    const std::string_view group = context.parameter("group");
    std::from_chars(group.data(), group.data() + group.size(), group_);
    const std::string pattern(context.parameter("pattern"));
    HUMMER_TRY(check_pattern(pattern, group_));
    pattern_ = std::make_unique<re2::RE2>(pattern, re2::RE2::Quiet);
    found_.resize(group_ + 1);
    return Status();
  }

  void map_record(const RecordView& line, MapOutput& output) {
    static const CountBytes one(1);
    const re2::StringPiece text(line.value_data, line.value_bytes);
    std::size_t at = 0;
    while (at <= text.size() && pattern_->Match(text, at, text.size(), re2::RE2::UNANCHORED,
                                                found_.data(), static_cast<int>(found_.size()))) {
      const re2::StringPiece& all = found_[0];
      const re2::StringPiece& counted = found_[group_];
      if (counted.data() != nullptr) output.emit({counted.data(), counted.size()}, one.view());
      at = static_cast<std::size_t>(all.data() - text.data()) + all.size();
      if (all.empty()) ++at;
    }
  }

 private:
  std::unique_ptr<re2::RE2> pattern_;
  std::size_t group_ = 0;
  std::vector<re2::StringPiece> found_;
};

}  // namespace

std::unique_ptr<Mapper> make_grep_mapper() { return std::make_unique<GrepMapper>(); }
bool has_grep() { return true; }

Status check_pattern(const std::string& pattern, std::uint64_t group) {
  const re2::RE2 compiled(pattern, re2::RE2::Quiet);
  if (!compiled.ok()) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("the pattern '{}' is none: {}", pattern, compiled.error()));
  }
  const auto groups = static_cast<std::uint64_t>(compiled.NumberOfCapturingGroups());
  if (group <= groups) return Status();
  return Status(ErrorCode::invalid_argument,
                fmt::format("the pattern '{}' has {} groups, and none with the number {}", pattern,
                            groups, group));
}

}  // namespace hummer::batch
