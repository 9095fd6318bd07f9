// MergeJoin: joins two streams that are sorted by the bytes of their keys.
//
//   MergeJoin join(platform, {.kind = JoinKind::inner, …}, first, second);
//   for (;;) {
//     Result<bool> more = join.produce(pairs);     // until pairs are full, or some is done
//     function->call(pairs.all(), out); pairs.clear();
//     if (!*more) break;
//   }
//
// Pairs hold until the next call; they are taken before it.
//
// Records of a key that the second side has more than one of are gone through once for each of the
// first. Where they are in more than one span they are copied (as many bytes as memory_bytes);
// where they are more, they go to a file, which is read once for as many records of the first as
// have room in that memory.
//
// Thread: one. The streams outlive it. Errors: those of the streams, and of the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/status.hpp>

#include <hummer/batch/record_stream.hpp>
#include "batch/spill_file.hpp"
#include "operators/join_pairs.hpp"
#include "platform/platform.hpp"

namespace hummer {

struct MergeJoinOptions {
  JoinKind kind = JoinKind::inner;
  std::size_t memory_bytes = std::size_t{1} << 20;  // for the records of one key
  std::string spill_directory = {};
};

class MergeJoin {
 public:
  MergeJoin(Platform& platform, MergeJoinOptions options, batch::RecordStream& first,
            batch::RecordStream& second);

  // False: there are no more.
  Result<bool> produce(JoinPairs& pairs);
  std::size_t disk_bytes() const { return group_file_ ? group_file_->size_bytes() : 0; }

 private:
  // A stream and the rest of its span.
  struct Side {
    batch::RecordStream* stream;
    std::span<const batch::RecordView> rest;
    bool ended = false;

    // Whether a record is at hand.
    Result<bool> fetch();
  };
  enum class State : std::uint8_t {
    comparing,
    collecting,  // records of a key, of the second side
    pairing,     // each record of the first side with them
    blocking,    // records of the first side are gathered, since the others are in a file
    scanning,    // the file, for those
    done,
  };

  Result<bool> compare(JoinPairs& pairs);
  Status begin_group();
  Result<bool> collect(JoinPairs& pairs);
  Status spill_group();
  Result<bool> pair(JoinPairs& pairs);
  Result<bool> gather_block();
  Result<bool> scan(JoinPairs& pairs);
  bool must_flush(const Side& side, const JoinPairs& pairs) const {
    return side.rest.empty() && !pairs.empty();
  }
  std::string_view copy(std::string_view value);

  Platform& platform_;
  const MergeJoinOptions options_;
  Side first_;
  Side second_;
  State state_ = State::comparing;
  std::string key_;                      // of the group
  std::vector<std::string_view> group_;  // values, of the second side
  std::size_t next_in_group_ = 0;        // for the record at hand of the first
  std::vector<std::unique_ptr<char[]>> copies_;
  std::size_t copied_bytes_ = 0;
  std::optional<batch::SpillWriter> group_writer_;
  std::optional<batch::SpillFile> group_file_;
  std::vector<std::string_view> block_;  // values, of the first side
  std::unique_ptr<batch::RecordStream> scan_;
  std::span<const batch::RecordView> scanned_;
  std::size_t next_in_block_ = 0;
};

}  // namespace hummer
