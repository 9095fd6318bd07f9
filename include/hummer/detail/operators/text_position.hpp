// Where a record of text comes from, for failure messages: "file, line 12 (byte 345)".
#pragma once

#include <string>

#include <hummer/batch.hpp>
#include <hummer/operator.hpp>
#include <hummer/text.hpp>

namespace hummer {

// `offset` bytes into this block; only the byte where nobody knows the line.
std::string describe_text_position(const TextBlock& block, std::size_t offset,
                                   OperatorContext& context);

// Of the block at in.position(); empty when there is none.
std::string describe_text_position(const Batch& in, std::size_t offset, OperatorContext& context);

}  // namespace hummer
