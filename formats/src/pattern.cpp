#include <utility>

#include <hummer/formats/pattern.hpp>

#include "pattern_decoder.hpp"

namespace hummer::formats {
namespace {

class Pattern final : public Format {
 public:
  // `may_lack_times`: of fields that a record need not have, in a pattern of everybody's.
  Pattern(std::string name, std::string expression, PatternOptions options, bool may_lack_times)
      : name_(std::move(name)),
        text_(std::move(expression)),
        options_(std::move(options)),
        may_lack_times_(may_lack_times) {
    re2::RE2::Options of_expression(options_.utf8 ? re2::RE2::DefaultOptions : re2::RE2::Latin1);
    of_expression.set_log_errors(false);
    of_expression.set_max_mem(largest_program_bytes);
    expression_ = std::make_shared<const re2::RE2>(text_, of_expression);
  }

  std::string_view name() const override { return name_; }

  Status check(const RecordShape& shape) const override {
    if (!expression_->ok()) {
      return {ErrorCode::invalid_argument, "the pattern can't be read: " + expression_->error() +
                                               " (" + expression_->error_arg() +
                                               "); it is a regular expression of RE2"};
    }
    if (shape.fields.empty()) return {ErrorCode::invalid_argument, "the record has no fields"};
    const Result<std::vector<PatternField>> fields = bind_groups(shape, *expression_);
    if (!fields.ok()) return fields.status();
    return BoundTimes::check(shape, times_of(shape));
  }
  Status check_writing(const RecordShape&) const override {
    return {ErrorCode::invalid_argument, "a pattern is read, and not written: use csv() or json()"};
  }

  bool has_head() const override { return false; }
  std::unique_ptr<Decoder> make_decoder(const RecordShape& shape) const override {
    PatternOptions options = options_;
    options.times = times_of(shape);
    Result<std::vector<PatternField>> fields = bind_groups(shape, *expression_);
    // One that can't be bound, or read, is refused by check(), and never decodes.
    if (!fields.ok()) fields = std::vector<PatternField>();
    return std::make_unique<PatternDecoder>(shape, expression_, options, *fields);
  }
  std::unique_ptr<Encoder> make_encoder(const RecordShape&) const override { return nullptr; }
  std::string head(const RecordShape&) const override { return {}; }
  CapturedValues captured() const override {
    return encoded_values(text_, options_.null_text, options_.utf8, options_.times);
  }

 private:
  static constexpr std::int64_t largest_program_bytes = 32 << 20;

  TimeFields times_of(const RecordShape& shape) const {
    TimeFields times;
    for (const TimeField& time : options_.times) {
      if (may_lack_times_ && !is_number(shape, time.field)) continue;
      times.push_back(time);
    }
    return times;
  }
  static bool is_number(const RecordShape& shape, std::string_view name) {
    const std::size_t field = shape.find(name);
    if (field == shape.fields.size()) return false;
    const ValueShape& value = shape.fields[field].value;
    const ValueKind kind = value.kind == ValueKind::optional ? value.element->kind : value.kind;
    return kind != ValueKind::view && kind != ValueKind::string;
  }

  const std::string name_;
  const std::string text_;
  const PatternOptions options_;
  const bool may_lack_times_;
  std::shared_ptr<const re2::RE2> expression_;
};

std::shared_ptr<const Format> log_pattern(std::string name, std::string expression,
                                          TimeField time) {
  PatternOptions options{.null_text = "-", .times = {std::move(time)}};
  return std::make_shared<Pattern>(std::move(name), std::move(expression), std::move(options),
                                   true);
}

// In quotes, where a backslash makes a quote one of the text.
constexpr std::string_view common_fields =
    R"re((?P<host>\S+) (?P<ident>\S+) (?P<user>\S+) \[(?P<time>[^\]]+)\] )re"
    R"re("(?P<request>(?:(?P<method>[A-Z]+) (?P<path>[^ "]*) (?P<protocol>[A-Z]+/[0-9.]+))re"
    R"re(|(?:[^"\\]|\\.)*))" (?P<status>\d{3}) (?P<size>\d+|-))re";
constexpr std::string_view combined_fields =
    R"re( "(?P<referer>(?:[^"\\]|\\.)*)" "(?P<agent>(?:[^"\\]|\\.)*)")re";
constexpr std::string_view rfc3164_fields =
    R"re((?:<(?P<priority>\d{1,3})>)?(?P<time>[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d) )re"
    R"re((?P<host>\S+) (?:(?P<tag>[^][:\s]+)(?:\[(?P<pid>[^\]\s]*)\])?: ?)?(?P<message>.*))re";
constexpr std::string_view rfc5424_fields =
    R"re(<(?P<priority>\d{1,3})>(?P<version>\d{1,2}) (?P<time>\S+) (?P<host>\S+) (?P<app>\S+) )re"
    R"re((?P<pid>\S+) (?P<id>\S+) )re"
    R"re((?P<data>-|(?:\[[^][ "=]+(?: [^][ "=]+="(?:[^]"\\]|\\.)*")*\])+)(?: (?P<message>.*))?)re";

}  // namespace

std::shared_ptr<const Format> pattern(std::string expression, PatternOptions options) {
  return std::make_shared<Pattern>("pattern", std::move(expression), std::move(options), false);
}

std::shared_ptr<const Format> common_log() {
  return log_pattern("common log", std::string(common_fields), {"time", "%d/%b/%Y:%H:%M:%S %z"});
}

std::shared_ptr<const Format> combined_log() {
  return log_pattern("combined log", std::string(common_fields) + std::string(combined_fields),
                     {"time", "%d/%b/%Y:%H:%M:%S %z"});
}

std::shared_ptr<const Format> syslog_rfc3164(int year, int utc_offset_minutes) {
  return log_pattern("syslog (RFC 3164)", std::string(rfc3164_fields),
                     {"time", "rfc3164", year, utc_offset_minutes});
}

std::shared_ptr<const Format> syslog_rfc5424() {
  return log_pattern("syslog (RFC 5424)", std::string(rfc5424_fields), {"time", "rfc3339"});
}

}  // namespace hummer::formats
