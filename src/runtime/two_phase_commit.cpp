#include <hummer/detail/operators/two_phase_commit.hpp>

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

Status undecodable() {
  return {ErrorCode::corrupt_record, "the state of a two-phase sink cannot be decoded"};
}

}  // namespace

Status TwoPhaseCommit::restore(ByteReader& in) {
  std::uint8_t version = 0;
  std::uint64_t count = 0;
  if (!in.get_value(version) || version != 1 || !in.get_value(count)) return undecodable();
  for (std::uint64_t i = 0; i < count; ++i) {
    Prepared prepared;
    std::string_view handle;
    if (!in.get_value(prepared.epoch) || !in.get_text(handle)) return undecodable();
    prepared.handle = handle;
    prepared_.push_back(std::move(prepared));
  }
  std::sort(prepared_.begin(), prepared_.end(),
            [](const Prepared& a, const Prepared& b) { return a.epoch < b.epoch; });
  return {};
}

Status TwoPhaseCommit::open(OperatorContext& context) {
  last_barrier_ = context.epoch();
  HUMMER_TRY(store_.open(context));
  std::vector<std::string> handles;
  for (const Prepared& each : prepared_) handles.push_back(each.handle);
  return store_.abort_all_but(handles);
}

OperatorResult TwoPhaseCommit::flush(OperatorContext& context) {
  if (context.epoch() == last_barrier_) return OperatorResult::done;
  const OperatorResult answer = prepare(context, context.epoch());
  if (answer == OperatorResult::done) last_barrier_ = context.epoch();
  return answer;
}

OperatorResult TwoPhaseCommit::end(OperatorContext& context) {
  return prepare(context, context.epoch() + 1);
}

std::vector<StateDescription> TwoPhaseCommit::states() {
  return {{"prepared", "vector<tuple<u64,string>>"}};
}

void TwoPhaseCommit::snapshot(ByteWriter& out) const {
  out.put_value(std::uint8_t{1});  // version
  out.put_value(static_cast<std::uint64_t>(prepared_.size()));
  for (const Prepared& each : prepared_) {
    out.put_value(each.epoch);
    out.put_text(each.handle);
  }
}

Status TwoPhaseCommit::commit(std::uint64_t epoch) {
  std::size_t done = 0;
  for (; done < prepared_.size() && prepared_[done].epoch <= epoch; ++done) {
    HUMMER_TRY(store_.commit(prepared_[done].handle));
  }
  prepared_.erase(prepared_.begin(), prepared_.begin() + static_cast<std::ptrdiff_t>(done));
  return {};
}

OperatorResult TwoPhaseCommit::prepare(OperatorContext& context, std::uint64_t epoch) {
  Result<std::string> handle = store_.prepare(epoch);
  if (!handle.ok()) return context.fail(handle.status());
  if (!handle->empty()) prepared_.push_back({epoch, std::move(*handle)});
  return OperatorResult::done;
}

}  // namespace hummer
