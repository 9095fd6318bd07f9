// The snapshot of an operator whose state is one AccumulatorTable: version, whether it is a delta,
// and in steps the entries.
//
//   Status snapshot(ByteWriter& out)       { return begin_table_snapshot(table_, context(), out); }
//   OperatorResult snapshot_rest(ByteWriter& out)  { return table_snapshot_rest(table_, context(),
//   out); }
#pragma once

#include <hummer/detail/state/accumulator_table.hpp>
#include <hummer/operator.hpp>

namespace hummer {

inline constexpr std::uint8_t table_snapshot_version = 2;

template <typename Table>
Status begin_table_snapshot(Table& table, OperatorContext& context, ByteWriter& out) {
  const bool delta = table.freeze(context.may_write_delta());
  if (delta) context.wrote_delta();
  out.put_value(table_snapshot_version);
  out.put_value(static_cast<std::uint8_t>(delta));
  return {};
}

template <typename Table>
OperatorResult table_snapshot_rest(Table& table, const OperatorContext& context, ByteWriter& out) {
  if (!table.write_frozen(out, context.snapshot_step_bytes())) return OperatorResult::more;
  out.put_value(Table::end_of_entries);
  return OperatorResult::done;
}

inline Status table_undecodable(const OperatorContext& context) {
  return {ErrorCode::corrupt_record,
          "the state of operator '" + context.name() + "' cannot be decoded"};
}

// What is behind version and `delta`. Keeps the keys that are owned here; merge(A&, is_new, const
// A&) for one that is there already. make_room() → Status comes now and then, where the table may
// be put elsewhere.
template <typename K, typename A, typename Merge, typename MakeRoom>
Status restore_table(AccumulatorTable<K, A>& table, const OperatorContext& context, bool delta,
                     ByteReader& in, Merge&& merge, MakeRoom&& make_room) {
  using Restored = typename AccumulatorTable<K, A>::Restored;
  for (;;) {
    const Restored restored = table.restore(
        in, [&](const K& key) { return context.owns_key(key); },
        [&](A& accumulator, bool is_new, const A& other) {
          if (delta) {
            accumulator = other;
          } else {
            merge(accumulator, is_new, other);
          }
        });
    if (restored == Restored::not_valid) return table_undecodable(context);
    // A delta replaces what came before it, which must be at hand then.
    const bool replaces = delta && restored == Restored::some;
    if (!replaces && !context.delta_follows()) HUMMER_TRY(make_room());
    if (restored == Restored::all) return {};
  }
}

}  // namespace hummer
