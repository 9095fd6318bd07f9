// ClassCombiner: a combiner of a class library, between records as Hadoop's classes write them: it
// is given contents (writable_form.hpp), and what it gives out is written as they do.
//
//   ClassCombiner combiner(forms, order, std::move(made));     // for CollectorOptions
//
// Thread: one at a time. Errors: those of the stream and of the combiner.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <hummer/batch/combiner.hpp>
#include <hummer/batch/key_order.hpp>

#include "batch/stream_combiner.hpp"
#include "guarded_combiner.hpp"
#include "writable_form.hpp"

namespace hummer::hadoop {

class ClassCombiner final : public batch::StreamCombiner {
 public:
  // `order`: of keys as they are written.
  ClassCombiner(RecordForms forms, batch::KeyOrder order, std::unique_ptr<batch::Combiner> combiner)
      : forms_(forms), order_(order), combiner_(std::move(combiner)) {}

  std::unique_ptr<batch::RecordStream> combine(batch::RecordStream& stream) override;

  std::uint64_t records_in() const { return combiner_.records_in(); }
  std::uint64_t records_out() const { return combiner_.records_out(); }

 private:
  const RecordForms forms_;
  const batch::KeyOrder order_;
  batch::GuardedCombiner combiner_;
};

}  // namespace hummer::hadoop
