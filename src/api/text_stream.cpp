#include <hummer/detail/operators/lines.hpp>
#include <hummer/sources.hpp>

namespace hummer {

TextStream StreamExecutionEnvironment::from_file(const std::string& path,
                                                 FileSourceOptions options) {
  return TextStream(from_source<TextBlock>("from_file", make_file_source(path, options), true,
                                           encoded_values(path, options)));
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
