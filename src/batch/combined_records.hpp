// CombinedRecords: a sorted stream as a combiner leaves it.
//
//   CombinedRecords combined(stream, order, combiner);   // a RecordStream
//
// Thread: one. Errors: those of the stream and of the combiner.
#pragma once

#include <span>

#include <hummer/batch/combiner.hpp>
#include <hummer/batch/group_reader.hpp>
#include <hummer/batch/record_stream.hpp>

namespace hummer::batch {

class CombinedRecords final : public RecordStream {
 public:
  // `stream` and `combiner` outlive it.
  CombinedRecords(RecordStream& stream, KeyOrder order, Combiner& combiner)
      : groups_(stream, order), combiner_(combiner) {}

  Result<std::span<const RecordView>> next() override;

 private:
  GroupReader groups_;
  Combiner& combiner_;
  RecordBuffer buffer_;
  bool has_ended_ = false;
};

}  // namespace hummer::batch
