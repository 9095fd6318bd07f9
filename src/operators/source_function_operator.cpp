#include <hummer/detail/operators/source_function_operator.hpp>

namespace hummer {
namespace {

constexpr std::int64_t paused_retry_ns = 1'000'000;
constexpr std::uint8_t state_version = 1;

}  // namespace

std::string SourceFunctionOperatorBase::describe_produced(std::size_t record) const {
  return record < used_ ? std::string() : source_->describe_produced(record - used_);
}

OperatorResult SourceFunctionOperatorBase::produce(Output& out) {
  if (out.full()) return OperatorResult::more;
  const std::size_t used = used_ = out.batch().size();
  if (used == 0) out.batch().set_split(no_split);
  bool refused = false;
  const OperatorResult answer = call(out, refused);
  if (const Status views = check_views(out.batch(), used); !views.ok()) {
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

Status SourceFunctionOperatorBase::snapshot_splits(ByteWriter& out) {
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

Status SourceFunctionOperatorBase::restore_splits(ByteReader& in) {
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

}  // namespace hummer
