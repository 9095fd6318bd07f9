// The snapshot of an operator whose state is one KeyedStore: version, whether it is a delta, the
// watermark, what else the operator has, and in steps the store.
//
//   Status snapshot(ByteWriter& out) {
//     return begin_store_snapshot(store_, context(), watermark_, out);
//   }
//   OperatorResult snapshot_rest(ByteWriter& out) {
//     return store_snapshot_rest(store_, context(), out);
//   }
//   Status restore(ByteReader& in) {
//     … read_store_head(in, context()) … store_.restore(in, context(), options, head.delta) …
//   }
#pragma once

#include <string_view>

#include <hummer/detail/state/keyed_store.hpp>
#include <hummer/operator.hpp>

namespace hummer {

struct StoreSnapshotHead {
  bool delta = false;
  Timestamp watermark = no_timestamp;
};

// `own`: what else there is, which the operator reads back behind the head.
Status begin_store_snapshot(KeyedStoreBase& store, OperatorContext& context, Timestamp watermark,
                            ByteWriter& out, std::string_view own = {});
OperatorResult store_snapshot_rest(KeyedStoreBase& store, OperatorContext& context,
                                   ByteWriter& out);
Result<StoreSnapshotHead> read_store_head(ByteReader& in, const OperatorContext& context);

}  // namespace hummer
