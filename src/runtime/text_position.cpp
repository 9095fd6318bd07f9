#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/operators/text_position.hpp>

namespace hummer {

std::string describe_text_position(const TextBlock& block, std::size_t offset,
                                   OperatorContext& context) {
  const std::uint64_t at = block.offset + offset;
  const std::string byte = "byte " + std::to_string(at);
  if (block.origin == nullptr) return byte;
  const std::uint64_t line = connector_context(context).line_at(*block.origin, at);
  if (line == 0) return *block.origin + ", " + byte;
  return *block.origin + ", line " + std::to_string(line) + " (" + byte + ")";
}

std::string describe_text_position(const Batch& in, std::size_t offset, OperatorContext& context) {
  if (in.finished()) return {};
  return describe_text_position(in.values<TextBlock>()[in.position()], offset, context);
}

}  // namespace hummer
