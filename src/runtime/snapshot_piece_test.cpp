#include "runtime/snapshot_piece.hpp"

#include <gtest/gtest.h>

#include <hummer/bytes.hpp>
#include <hummer/evolving.hpp>

namespace hummer::snapshot_piece_test {
namespace {

using Names = std::vector<std::string>;

std::string piece(const std::vector<StateDescription>& states, const std::string& written) {
  std::string bytes;
  ByteWriter out(bytes);
  encode_states(states, out);
  return std::string(out.view()) + written;
}

TEST(StatesHeld, AnOperatorThatWroteNothingHoldsNothing) {
  EXPECT_EQ(states_held(piece({}, "")), Names{});
  EXPECT_EQ(states_held(piece({{"position", "index_ranges"}}, "")), Names{});
}

TEST(StatesHeld, AWatermarkComesAgain) {
  EXPECT_EQ(states_held(piece({{"watermark", "i64"}}, "12345678")), Names{});
  EXPECT_EQ(states_held(piece({{"late_before", "i64"}}, "12345678")), Names{});
  EXPECT_EQ(states_held(piece({{"watermark", "i64"}, {"function", "bytes"}}, "12345678")),
            Names{"function"});
  EXPECT_EQ(states_held(piece({{"watermark", "value<string>"}}, "x")), Names{"watermark"})
      << "somebody's own";
}

TEST(StatesHeld, AStateIsHeldWhateverItsValue) {
  EXPECT_EQ(states_held(piece({{"position", "index_ranges"}}, std::string(4, '\0'))),
            Names{"position"});
  EXPECT_EQ(states_held(piece({{"a", "u8"}, {"b", "u8"}}, "xy")), (Names{"a", "b"}));
}

TEST(StatesHeld, SoIsWhatNobodyNamed) {
  EXPECT_EQ(states_held(piece({}, "x")), Names{"undeclared"});
  EXPECT_EQ(states_held(""), Names{"undeclared"}) << "no piece says nothing at all";
}

}  // namespace
}  // namespace hummer::snapshot_piece_test
