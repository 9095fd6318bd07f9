// emit_table: hands the entries of a table on as KeyValue records, resumably.
//
// key_for_output: a key that may outlive what it lies in. Text keys are copied into the output
// batch, since the table may be cleared before the batch is read.
#pragma once

#include <hummer/aggregate.hpp>
#include <hummer/collector.hpp>
#include <hummer/operator.hpp>

namespace hummer {

template <typename K, typename Out>
K key_for_output(const K& key, Collector<Out>& out) {
  if constexpr (std::is_same_v<K, std::string_view>) {
    return out.copy(key);
  } else {
    static_assert(!holds_views<K>, "a composite key must own its text: use std::string in it");
    return key;
  }
}

// From `cursor` on, which moves; done when all entries whose keys `select` wants are out.
template <typename K, typename V, typename Table, typename Select, typename Convert>
OperatorResult emit_table(const Table& table, std::size_t& cursor, Output& out, Select&& select,
                          Convert&& convert) {
  auto collector = out.collector<KeyValue<K, V>>();
  if (collector.full()) return OperatorResult::more;
  cursor = table.scan(cursor, [&](const K& key, const auto& value) {
    if (!select(key)) return true;
    collector(KeyValue<K, V>{key_for_output(key, collector), convert(value)});
    return !collector.full();
  });
  if (cursor != Table::scan_end) return OperatorResult::more;
  cursor = 0;
  return OperatorResult::done;
}

}  // namespace hummer
