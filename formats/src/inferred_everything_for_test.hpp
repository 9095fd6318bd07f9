// What `hummer infer --descriptor golden.desc --message golden.Everything` prints:
// protobuf_test.cpp compares it with these lines, and reads the golden file by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hummer::formats::inferred {

enum class Side : std::int32_t { BUY = 0, SELL = 1, HOLD = -1 };
struct Part {
  std::string venue;
  std::vector<std::int64_t> lots;
};
struct CountsEntry {
  std::string key;
  std::int32_t value = 0;
};
struct Everything {
  std::int32_t i32 = 0;
  std::int64_t i64 = 0;
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  std::int32_t s32 = 0;
  std::int64_t s64 = 0;
  std::uint32_t f32 = 0;
  std::uint64_t f64 = 0;
  std::int32_t sf32 = 0;
  std::int64_t sf64 = 0;
  float real = 0;
  double wide = 0;
  bool flag = false;
  std::string text;
  std::string raw;
  Side side = {};
  std::optional<Part> part;
  std::optional<Part> maybe;
  std::vector<Part> parts;
  std::vector<std::int32_t> packed;
  std::vector<std::int32_t> unpacked;
  std::vector<std::string> texts;
  std::vector<CountsEntry> counts;
  std::optional<std::int32_t> number;
  std::optional<std::string> word;
  std::optional<Part> piece;
  std::optional<std::int32_t> zero;
  std::int32_t small = 0;
};

}  // namespace hummer::formats::inferred
