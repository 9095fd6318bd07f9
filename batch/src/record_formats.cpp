// Formats by their names.
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include <hummer/batch/record_reader.hpp>
#include <hummer/batch/record_writer.hpp>

#include "fixed_reader.hpp"
#include "record_writers.hpp"
#include "segments_reader.hpp"
#include "text_reader.hpp"

namespace hummer::batch {
namespace {

constexpr std::string_view fixed_name = "fixed:";
constexpr std::string_view segments_name = "segments";
constexpr std::uint32_t most_fixed_bytes = 1 << 20;

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

InputFormat text_input() {
  return {.name = "text", .make_reader = [] { return std::make_unique<TextReader>(); }};
}

InputFormat fixed_input(std::uint32_t key_bytes, std::uint32_t value_bytes) {
  return {.name = fmt::format("{}{},{}", fixed_name, key_bytes, value_bytes),
          .record_bytes = std::uint64_t{key_bytes} + value_bytes,
          .make_reader = [key_bytes, value_bytes] {
            return std::make_unique<FixedReader>(key_bytes, value_bytes);
          }};
}

InputFormat segments_input(std::string_view codec) {
  return {.name = fmt::format("{}:{}", segments_name, codec),
          .has_splits = false,
          .passed_over = std::string(SegmentsReader::index_suffix),
          .make_reader = [found = codec_of(codec)] {
            return std::make_unique<SegmentsReader>(found.value_or(Codec::none));
          }};
}

Result<InputFormat> input_format_of(std::string_view name) {
  if (name == "text") return text_input();
  if (name == segments_name) return segments_input();
  if (name.starts_with(segments_name) && name.substr(segments_name.size()).starts_with(':')) {
    const std::string_view codec = name.substr(segments_name.size() + 1);
    if (codec_of(codec).has_value()) return segments_input(codec);
  }
  if (name.starts_with(fixed_name)) {
    const std::string_view sizes = name.substr(fixed_name.size());
    const std::size_t comma = sizes.find(',');
    if (comma != std::string_view::npos) {
      const auto key_bytes = number_in(sizes.substr(0, comma));
      const auto value_bytes = number_in(sizes.substr(comma + 1));
      if (key_bytes && value_bytes && *key_bytes <= most_fixed_bytes &&
          *value_bytes <= most_fixed_bytes && *key_bytes + *value_bytes > 0) {
        return fixed_input(*key_bytes, *value_bytes);
      }
    }
  }
  return Status(ErrorCode::invalid_argument,
                fmt::format("no input format is called '{}': text; fixed:KEY,VALUE with the "
                            "bytes of keys and values, up to {} each, such as fixed:10,90; or "
                            "segments, segments:snappy ...",
                            name, most_fixed_bytes));
}

OutputFormat text_output() {
  return {.name = "text", .make_writer = [] { return std::make_unique<TextWriter>(); }};
}
OutputFormat raw_output() {
  return {.name = "raw", .make_writer = [] { return std::make_unique<RawWriter>(); }};
}
OutputFormat no_output() {
  return {.name = "none", .has_files = false, .make_writer = [] {
            return std::make_unique<NoWriter>();
          }};
}

Result<OutputFormat> output_format_of(std::string_view name) {
  if (name == "text") return text_output();
  if (name == "raw") return raw_output();
  if (name == "none") return no_output();
  return Status(ErrorCode::invalid_argument,
                fmt::format("no output format is called '{}': text, raw or none", name));
}

}  // namespace hummer::batch
