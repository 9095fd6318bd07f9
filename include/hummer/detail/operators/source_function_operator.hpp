// SourceFunctionOperator: runs a SourceFunction of the user's own (hummer/source_function.hpp).
//
// State: what the function writes, or by split: the id of each, whether it is finished, and the
// position that the function wrote of it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/view_check.hpp>
#include <hummer/source_function.hpp>

namespace hummer {

// The part that needs no type: it knows the splits, and their state.
class SourceFunctionOperatorBase : public SourceOperator {
 public:
  bool has_splits() const override { return source_->has_splits(); }
  bool takes_all_pieces() const override { return has_splits(); }
  Status restore(ByteReader& in) override {
    return has_splits() ? restore_splits(in) : source_->restore(in);
  }
  Status open() override { return source_->open(context()); }
  std::vector<StateDescription> states() override { return source_->states(); }
  Status snapshot(ByteWriter& out) override {
    return has_splits() ? snapshot_splits(out) : source_->snapshot(out);
  }
  Status commit(std::uint64_t epoch) override { return source_->commit(epoch); }
  Status close() override { return source_->close(); }
  bool replayable() const override { return source_->replayable(); }
  std::string describe_produced(std::size_t record) const override;
  OperatorResult produce(Output& out) override;

 protected:
  explicit SourceFunctionOperatorBase(std::unique_ptr<SourceFunctionBase> source)
      : source_(std::move(source)) {}

  // Calls the function; `refused`: a split that is paused.
  virtual OperatorResult call(Output& out, bool& refused) = 0;
  virtual Status check_views(Batch& out, std::size_t first) const = 0;

  const std::unique_ptr<SourceFunctionBase> source_;

 private:
  Status snapshot_splits(ByteWriter& out);
  Status restore_splits(ByteReader& in);

  std::size_t used_ = 0;  // of the output, ahead of the last call
};

template <StreamType T>
class SourceFunctionOperator final : public SourceFunctionOperatorBase {
 public:
  explicit SourceFunctionOperator(std::unique_ptr<SourceFunction<T>> source)
      : SourceFunctionOperatorBase(std::move(source)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }

 private:
  OperatorResult call(Output& out, bool& refused) override {
    SourceOutput<T> emit(out, context().splits());
    const OperatorResult answer = static_cast<SourceFunction<T>&>(*source_).produce(emit);
    refused = emit.has_refused();
    return answer;
  }
  Status check_views(Batch& out, std::size_t first) const override {
    return check_new_views<T>(context(), Batch(), out, first);
  }
};

}  // namespace hummer
