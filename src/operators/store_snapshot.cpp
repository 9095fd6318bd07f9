#include <hummer/detail/operators/store_snapshot.hpp>

#include <string>

namespace hummer {
namespace {

constexpr std::uint8_t store_snapshot_version = 2;

}  // namespace

Status begin_store_snapshot(KeyedStoreBase& store, OperatorContext& context, Timestamp watermark,
                            ByteWriter& out, std::string_view own) {
  std::string bytes;
  ByteWriter frozen(bytes);
  const Result<bool> delta = store.freeze(context.may_write_delta(), frozen);
  if (!delta.ok()) return delta.status();
  if (*delta) context.wrote_delta();
  out.put_value(store_snapshot_version);
  out.put_value(static_cast<std::uint8_t>(*delta));
  out.put_value(watermark);
  out.put(own.data(), own.size());
  out.put(frozen.view().data(), frozen.size());
  return {};
}

OperatorResult store_snapshot_rest(KeyedStoreBase& store, OperatorContext& context,
                                   ByteWriter& out) {
  const Result<bool> finished = store.write_frozen(out, context.snapshot_step_bytes());
  if (!finished.ok()) return context.fail(finished.status());
  return *finished ? OperatorResult::done : OperatorResult::more;
}

Result<StoreSnapshotHead> read_store_head(ByteReader& in, const OperatorContext& context) {
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
