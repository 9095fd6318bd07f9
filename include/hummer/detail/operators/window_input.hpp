// RecordInput, PartialInput: what a window operator takes: records with a key, or
// partial results by key and slice.
//
// SlicePartial: what travels between the halves of a windowed aggregate.
#pragma once

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/operators/late_records.hpp>
#include <hummer/detail/operators/record_keys.hpp>
#include <hummer/detail/state/accumulator_table.hpp>
#include <hummer/identity.hpp>

namespace hummer {

template <typename In, typename K, typename KeyOf>
class RecordInput {
 public:
  using Record = In;

  explicit RecordInput(KeyOf key_of) : keys_(std::move(key_of)) {}

  std::span<const Timestamp> times(const Batch& in) const {
    if (!in.has_timestamps()) return {};
    return in.timestamps();
  }
  // The key of the `i`-th record that is asked for: see RecordKeys.
  K key(std::size_t i, const In& record) { return keys_.take(i, record); }

  // All records, in order. note(i) says which one is in hand, where user code may throw.
  template <typename Table, typename Aggregate, typename IndexOf, typename Note>
  void fold(Table& table, const Aggregate& aggregate, std::span<const In> records,
            IndexOf&& index_of, Note&& note) {
    if constexpr (std::is_same_v<In, std::string_view> && std::is_same_v<K, In> &&
                  std::is_same_v<KeyOf, Identity>) {
      (void)index_of;
      table.update_views(records, adding(aggregate, records, index_of, note));
    } else {
      fold_some(table, aggregate, records, records.size(), index_of, note);
    }
  }
  template <typename Table, typename Aggregate, typename IndexOf, typename Note>
  void fold_some(Table& table, const Aggregate& aggregate, std::span<const In> records,
                 std::size_t count, IndexOf&& index_of, Note&& note) {
    table.update(
        count,
        [&](std::size_t i) -> K {
          const std::size_t at = index_of(i);
          if constexpr (!std::is_nothrow_invocable_v<KeyOf&, const In&> &&
                        !std::is_member_pointer_v<KeyOf>) {
            note(at);
          }
          return keys_.take(i, records[at]);
        },
        adding(aggregate, records, index_of, note));
  }

 private:
  template <typename Aggregate, typename IndexOf, typename Note>
  static auto adding(const Aggregate& aggregate, std::span<const In> records, IndexOf& index_of,
                     Note& note) {
    return [&aggregate, records, &index_of, &note](auto& accumulator, bool is_new, std::size_t i) {
      const std::size_t at = index_of(i);
      if constexpr (!noexcept(aggregate.add(accumulator, is_new, records[at]))) note(at);
      aggregate.add(accumulator, is_new, records[at]);
    };
  }

  RecordKeys<In, K, KeyOf> keys_;
};

template <typename K, typename A>
struct SlicePartial {
  K key;
  Timestamp slice;
  A value;
};

template <typename K, typename A>
struct PartialInput {
  using Record = SlicePartial<K, A>;

  std::span<const Timestamp> times(const Batch& in) {
    const auto records = in.values<Record>();
    times_.resize(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) times_[i] = records[i].slice;
    return times_;
  }
  const K& key(std::size_t, const Record& record) const { return record.key; }

  template <typename Table, typename Aggregate, typename IndexOf, typename Note>
  void fold(Table& table, const Aggregate& aggregate, std::span<const Record> records,
            IndexOf&& index_of, Note&& note) {
    fold_some(table, aggregate, records, records.size(), index_of, note);
  }
  template <typename Table, typename Aggregate, typename IndexOf, typename Note>
  void fold_some(Table& table, const Aggregate& aggregate, std::span<const Record> records,
                 std::size_t count, IndexOf&& index_of, Note&& note) {
    table.update(
        count, [&](std::size_t i) -> const K& { return records[index_of(i)].key; },
        [&](A& accumulator, bool is_new, std::size_t i) {
          const Record& record = records[index_of(i)];
          if constexpr (!noexcept(aggregate.merge(accumulator, is_new, record.value))) {
            note(index_of(i));
          }
          aggregate.merge(accumulator, is_new, record.value);
        });
  }

 private:
  std::vector<Timestamp> times_;
};

}  // namespace hummer
