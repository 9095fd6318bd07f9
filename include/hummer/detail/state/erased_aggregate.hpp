// ErasedAggregate: an aggregate by key as code sees it that knows its accumulators only as bytes:
// what merges, spills and restores tables. Called per table, or for single entries that come from
// a disk; never per record.
//
// ErasedAggregateOf<K, Aggregate>: makes one of the aggregate, which outlives it. Thread: that of
// the operator.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/detail/state/accumulator_table.hpp>

namespace hummer {

class ErasedAggregate {
 public:
  virtual ~ErasedAggregate() = default;

  virtual std::unique_ptr<AccumulatorTableBase> make_table() const = 0;
  // Adds all of `from` to `to`, in groups, so that misses of the caches overlap.
  virtual void merge_tables(AccumulatorTableBase& to, const AccumulatorTableBase& from) const = 0;
  // Adds `value`, of an entry of `from`, to an accumulator.
  virtual void merge(void* accumulator, bool is_new, const AccumulatorTableBase& from,
                     const void* value) const = 0;
  // Reads an accumulator, and puts it in the place of the one that is given, or merges it into
  // that; null: passes over it. False: not valid.
  [[nodiscard]] virtual bool read(ByteReader& in, void* accumulator, bool is_new,
                                  bool replace) const = 0;
  // Writes what two accumulators of a key are together; false: not valid.
  [[nodiscard]] virtual bool combine(std::string_view older, std::string_view newer,
                                     std::string& both) const = 0;
};

template <typename A>
[[nodiscard]] bool decode_accumulator(std::string_view bytes, A& value) {
  ByteReader in(bytes);
  return Codec<A>::decode(in, value) && in.left() == 0;
}

template <typename K, typename Aggregate>
class ErasedAggregateOf final : public ErasedAggregate {
  using A = typename Aggregate::Accumulator;
  using Table = AccumulatorTable<K, A>;

 public:
  explicit ErasedAggregateOf(const Aggregate& aggregate) : aggregate_(aggregate) {}

  std::unique_ptr<AccumulatorTableBase> make_table() const override {
    return std::make_unique<Table>();
  }
  void merge_tables(AccumulatorTableBase& to, const AccumulatorTableBase& from) const override {
    constexpr std::size_t group = 256;
    std::array<K, group> keys;
    std::array<const A*, group> values;
    std::size_t count = 0;
    const auto& other = static_cast<const Table&>(from);
    const auto hand_on = [&] {
      HUMMER_ASSERT(count <= group);
      static_cast<Table&>(to).update(
          count, [&](std::size_t i) -> const K& { return keys[i]; },
          [&](A& accumulator, bool is_new, std::size_t i) {
            aggregate_.merge(accumulator, is_new, *values[i]);
          });
      count = 0;
    };
    FoundEntries found;
    for (std::size_t cursor = 0; cursor != Table::scan_end;) {
      other.read(cursor, found);
      for (std::size_t i = 0; i < found.count; ++i) {
        keys[count] = TableKey<K>::of(found.entries[i].key);
        values[count++] = &other.accumulator_of(found.entries[i].value);
      }
      if (count + FoundEntries::capacity > group || cursor == Table::scan_end) hand_on();
    }
  }
  void merge(void* accumulator, bool is_new, const AccumulatorTableBase& from,
             const void* value) const override {
    aggregate_.merge(*static_cast<A*>(accumulator), is_new,
                     static_cast<const Table&>(from).accumulator_of(value));
  }
  bool read(ByteReader& in, void* accumulator, bool is_new, bool replace) const override {
    if constexpr (detail::HasCodec<A>) {
      A other{};
      if (!Codec<A>::decode(in, other)) return false;
      if (accumulator == nullptr) return true;
      if (replace) {
        *static_cast<A*>(accumulator) = std::move(other);
      } else {
        aggregate_.merge(*static_cast<A*>(accumulator), is_new, std::as_const(other));
      }
      return true;
    } else {
      (void)in, (void)accumulator, (void)is_new, (void)replace;
      return false;
    }
  }
  bool combine(std::string_view older, std::string_view newer, std::string& both) const override {
    if constexpr (detail::HasCodec<A>) {
      A first{};
      A second{};
      if (!decode_accumulator(older, first) || !decode_accumulator(newer, second)) return false;
      aggregate_.merge(first, false, std::as_const(second));
      ByteWriter out(both);
      Codec<A>::encode(first, out);
      both.resize(out.size());
      return true;
    } else {
      (void)older, (void)newer, (void)both;
      return false;
    }
  }

 private:
  const Aggregate& aggregate_;
};

}  // namespace hummer
