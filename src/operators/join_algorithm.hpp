// JoinAlgorithm: how a join finds records with equal keys; JoinOperator (join_operator.hpp) feeds
// it.
//
//   while (!*algorithm.add(side, records, next, pairs)) { take the pairs }   for each batch; pairs
//                                                            are taken after every call
//   algorithm.side_ended(side);                              where that is known before the end
//   while (!*algorithm.finish(pairs)) { take the pairs }
//
// No call takes longer than some ten milliseconds. Pairs hold until the next call.
//
// Thread: one. Errors: those of the disk, limit_exceeded. After one it is only destroyed.
#pragma once

#include <cstddef>
#include <memory>

#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/status.hpp>

#include "operators/join_pairs.hpp"
#include "platform/platform.hpp"

namespace hummer {

class JoinAlgorithm {
 public:
  virtual ~JoinAlgorithm() = default;

  // Takes records of a side from `next` on, which it moves. True: all have been taken.
  virtual Result<bool> add(int side, const EncodedRecords& records, std::size_t& next,
                           JoinPairs& pairs) = 0;
  virtual void side_ended(int /*side*/) {}
  // Both sides have ended. True: these are the last pairs.
  virtual Result<bool> finish(JoinPairs& pairs) = 0;

  virtual std::size_t memory_bytes() const = 0;
  virtual std::size_t disk_bytes() const = 0;
};

struct JoinOptions {
  JoinKind kind = JoinKind::inner;
  std::size_t memory_bytes = std::size_t{64} << 20;  // 1 MiB or more
  std::string spill_directory = {};
};

}  // namespace hummer
