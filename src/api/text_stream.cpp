#include <hummer/detail/operators/lines.hpp>
#include <hummer/detail/record_framing.hpp>
#include <hummer/detail/sources.hpp>

namespace hummer {

TextStream StreamExecutionEnvironment::from_file(const std::string& path,
                                                 FileSourceOptions options) {
  CapturedValues captured =
      encoded_values(path, options.split_size_bytes, options.block_size_bytes,
                     options.max_line_bytes, options.compression, options.map_files);
  // Version 0.1.0 had no more: a job that it has submitted is the same one.
  if (options.repeat_first_line || options.quote != 0) {
    captured = captured.and_also(encoded_values(options.repeat_first_line, options.quote));
  }
  if (options.framing != nullptr) {
    captured = captured.and_also(encoded_values(std::string(options.framing->name())));
  }
  return TextStream(
      from_source<TextBlock>("from_file", make_file_source(path, options), true, captured));
}
TextStream StreamExecutionEnvironment::from_socket(const std::string& address) {
  return TextStream(from_source<TextBlock>("from_socket", make_socket_source(address), false,
                                           encoded_values(address))
                        .parallelism(1));
}

DataStream<std::string_view> TextStream::lines() const {
  return blocks_.transform<std::string_view>(
      "lines", make_operator_factory([] { return std::make_unique<LinesOperator>(); }));
}
void TextStream::print() const { lines().print(); }
DataStream<std::string_view> TextStream::write_file(const std::string& path) const {
  return lines().write_file(path);
}

}  // namespace hummer
