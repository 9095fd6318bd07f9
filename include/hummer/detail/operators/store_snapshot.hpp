// The snapshot of an operator whose state is one KeyedStore: version, whether it is a delta, the
// watermark, what else the operator has, and in steps the store.
//
//   Status snapshot(ByteWriter& out)      { return begin_store_snapshot(store_, context(),
//   watermark_, out); } OperatorResult snapshot_rest(ByteWriter& out) { return
//   store_snapshot_rest(store_, context(), out); } Status restore(ByteReader& in)        { ...
//   read_store_head(in, context())
//   ...
//                                           store_.restore(in, context(), options, head.delta) }
#pragma once

#include <string>

#include <hummer/detail/state/keyed_store.hpp>
#include <hummer/operator.hpp>

namespace hummer {

inline constexpr std::uint8_t store_snapshot_version = 2;

struct StoreSnapshotHead {
  bool delta = false;
  Timestamp watermark = no_timestamp;
};

// add_own(ByteWriter&): what else there is, which the operator reads back behind the head.
template <typename Store, typename AddOwn>
Status begin_store_snapshot(Store& store, OperatorContext& context, Timestamp watermark,
                            ByteWriter& out, AddOwn&& add_own) {
  std::string bytes;
  ByteWriter frozen(bytes);
  const Result<bool> delta = store.freeze(context.may_write_delta(), frozen);
  if (!delta.ok()) return delta.status();
  if (*delta) context.wrote_delta();
  out.put_value(store_snapshot_version);
  out.put_value(static_cast<std::uint8_t>(*delta));
  out.put_value(watermark);
  add_own(out);
  out.put(frozen.view().data(), frozen.size());
  return {};
}
template <typename Store>
Status begin_store_snapshot(Store& store, OperatorContext& context, Timestamp watermark,
                            ByteWriter& out) {
  return begin_store_snapshot(store, context, watermark, out, [](ByteWriter&) {});
}

template <typename Store>
OperatorResult store_snapshot_rest(Store& store, OperatorContext& context, ByteWriter& out) {
  const Result<bool> finished = store.write_frozen(out, context.snapshot_step_bytes());
  if (!finished.ok()) return context.fail(finished.status());
  return *finished ? OperatorResult::done : OperatorResult::more;
}

inline Result<StoreSnapshotHead> read_store_head(ByteReader& in, const OperatorContext& context) {
  std::uint8_t version = 0;
  std::uint8_t delta = 0;
  StoreSnapshotHead head;
  const auto refused = [&](const std::string& why) {
    return Status(ErrorCode::corrupt_record,
                  "the state of operator '" + context.name() + "' " + why);
  };
  if (!in.get_value(version)) return refused("is cut short");
  if (version != store_snapshot_version) {
    return refused("has version " + std::to_string(version) + ", not " +
                   std::to_string(store_snapshot_version));
  }
  if (!in.get_value(delta) || !in.get_value(head.watermark)) return refused("is cut short");
  head.delta = delta != 0;
  return head;
}

}  // namespace hummer
