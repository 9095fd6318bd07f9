// StreamCombiner: a combiner that takes a sorted stream as a whole, for one that is not ours and
// finds its groups itself: Hadoop's, which is Java.
//
// It may be called never, once or several times for a record, as any combiner (combiner.hpp).
//
// Thread: one at a time.
#pragma once

#include <memory>

#include <hummer/batch/record_stream.hpp>

namespace hummer::batch {

class StreamCombiner {
 public:
  virtual ~StreamCombiner() = default;
  // What is left of the records of `stream`, in its order. `stream` outlives it, and both are read
  // by one thread until one of them has ended.
  virtual std::unique_ptr<RecordStream> combine(RecordStream& stream) = 0;
};

}  // namespace hummer::batch
