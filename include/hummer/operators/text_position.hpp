// Where a record of text comes from, for failure messages: "file, byte offset".
#pragma once

#include <string>

#include <hummer/batch.hpp>
#include <hummer/text.hpp>

namespace hummer {

// `offset` bytes into the block at in.position(); empty when there is none.
inline std::string describe_text_position(const Batch& in, std::size_t offset) {
  if (in.finished()) return {};
  const TextBlock& block = in.values<TextBlock>()[in.position()];
  return (block.origin != nullptr ? *block.origin + ", byte " : std::string("byte ")) +
         std::to_string(block.offset + offset);
}

}  // namespace hummer
