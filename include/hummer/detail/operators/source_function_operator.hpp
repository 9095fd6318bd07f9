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

template <StreamType T>
class SourceFunctionOperator final : public SourceOperator {
 public:
  explicit SourceFunctionOperator(std::unique_ptr<SourceFunction<T>> source)
      : source_(std::move(source)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
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
  Status close() override { return source_->close(); }
  bool replayable() const override { return source_->replayable(); }
  std::string describe_produced(std::size_t record) const override {
    return record < used_ ? std::string() : source_->describe_produced(record - used_);
  }

  OperatorResult produce(Output& out) override {
    if (out.full()) return OperatorResult::more;
    const std::size_t used = used_ = out.batch().size();
    if (used == 0) out.batch().set_split(no_split);
    OperatorResult answer = OperatorResult::failed;
    bool refused = false;
    {
      SourceOutput<T> emit(out, context().splits());
      answer = source_->produce(emit);
      refused = emit.has_refused();
    }
    if (const Status views = check_new_views<T>(context(), Batch(), out.batch(), used);
        !views.ok()) {
      return context().fail(views);
    }
    if (!has_splits() || answer == OperatorResult::failed) return answer;
    const bool gave = out.batch().size() > used;
    if (gave && out.batch().split() == no_split) {
      return context().fail({ErrorCode::operator_failed,
                             "source '" + context().name() +
                                 "' has splits and gave records of none: call out.split(id) "
                                 "before out.emit"});
    }
    if (!refused || gave || answer == OperatorResult::done) return answer;
    // Nobody says when the others have caught up.
    context().call_at(context().now() + paused_retry_ns);
    return OperatorResult::blocked;
  }

 private:
  static constexpr std::int64_t paused_retry_ns = 1'000'000;
  static constexpr std::uint8_t state_version = 1;

  Status snapshot_splits(ByteWriter& out) {
    const SourceSplits& splits = *context().splits();
    out.put_value(state_version);
    out.put_value(static_cast<std::uint32_t>(splits.size()));
    for (SplitNumber number = 0; number < splits.size(); ++number) {
      const SplitId id = splits.id(number);
      std::string bytes;
      ByteWriter position(bytes);
      if (!splits.is_finished(id)) HUMMER_TRY(source_->snapshot_split(id, position));
      out.put_value(id);
      out.put_value(static_cast<std::uint8_t>(splits.is_finished(id)));
      out.put_text(position.view());
    }
    return {};
  }

  Status restore_splits(ByteReader& in) {
    SourceSplits& splits = *context().splits();
    std::uint8_t version = 0;
    std::uint32_t count = 0;
    bool valid = in.get_value(version) && version == state_version && in.get_value(count);
    for (std::uint32_t i = 0; valid && i < count; ++i) {
      SplitId id = 0;
      std::uint8_t finished = 0;
      std::string_view bytes;
      valid = in.get_value(id) && in.get_value(finished) && in.get_text(bytes);
      if (!valid || !splits.begin(id)) continue;
      ByteReader position(bytes);
      if (finished != 0) {
        splits.finish(id);
      } else {
        HUMMER_TRY(source_->restore_split(id, position));
      }
    }
    if (valid) return {};
    return {ErrorCode::corrupt_record, "the state of a source with splits makes no sense"};
  }

  std::unique_ptr<SourceFunction<T>> source_;
  std::size_t used_ = 0;  // of the output, ahead of the last call
};

}  // namespace hummer
