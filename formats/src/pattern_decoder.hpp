// PatternDecoder: lines to records, on the contract of hummer/formats/format.hpp; made by
// pattern().
//
// RE2 finds the borders of the groups that fields have, and no others; fields are converted as
// CSV's are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include <hummer/formats/pattern.hpp>

#include "time_form.hpp"

namespace hummer::formats {

// The field of a record that a group goes to.
struct PatternField {
  int group = 0;
  ValueKind kind = ValueKind::view;
  bool optional = false;
  std::size_t offset = 0;
  const ValueShape* value = nullptr;
  std::size_t number = 0;
  std::string_view name;
};

class PatternDecoder final : public Decoder {
 public:
  PatternDecoder(const RecordShape& shape, std::shared_ptr<const re2::RE2> expression,
                 const PatternOptions& options, std::vector<PatternField> fields);

  Status begin(const TextBlock& block, std::size_t& at) override;
  Outcome decode(std::string_view text, std::size_t& at, Batch& batch, std::size_t limit) override;
  std::size_t end_of_record(std::string_view text, std::size_t at) const override;

 private:
  bool put_line(std::string_view line, char* record);
  bool put(const PatternField& field, std::string_view text, void* to);

  const RecordShape& shape_;
  const std::shared_ptr<const re2::RE2> expression_;
  const std::string null_text_;
  const BoundTimes times_;
  const std::vector<PatternField> fields_;
  std::vector<re2::StringPiece> groups_;  // the whole, and those up to the last one wanted
  const char* text_begin_ = nullptr;
};

// The fields and their groups, in the order of groups; invalid_argument where one has none.
Result<std::vector<PatternField>> bind_groups(const RecordShape& shape, const re2::RE2& expression);

}  // namespace hummer::formats
