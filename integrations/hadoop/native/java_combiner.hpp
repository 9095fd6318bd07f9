// JavaCombiner: the job's combiner, which is Java, as a StreamCombiner.
//
// Records go to Java by the chunk, as a batch has them (record_batch.hpp), and what the combiner
// makes of them comes back in the same form: hummer.hadoop.JobCombiner. A chunk ends where a key
// does, once it has 256 KiB; within a key at 4 MiB, as a combiner may get the records of a key by
// several calls. So calls between the two languages are few, and memory stays bounded.
//
//   JavaCombiner combiner(java, object, order);
//
// A failure in Java stays pending there, and the stream fails.
//
// Thread: that of the call from Java. The object in Java is held until it is destroyed.
#pragma once

#include <memory>

#include <jni.h>

#include <hummer/batch/key_order.hpp>
#include "batch/stream_combiner.hpp"
#include "java_calls.hpp"

namespace hummer::hadoop {

class JavaCombiner final : public batch::StreamCombiner {
 public:
  JavaCombiner(JNIEnv* java, jobject combiner, batch::KeyOrder order);
  std::unique_ptr<batch::RecordStream> combine(batch::RecordStream& stream) override;

 private:
  JavaObject combiner_;
  const batch::KeyOrder order_;
};

}  // namespace hummer::hadoop
