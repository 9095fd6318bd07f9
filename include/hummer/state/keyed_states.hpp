// The states that a keyed function declares as its members:
//
//   ValueState<double> last{"last"};                       one value
//   ListState<Order> open{"open", {.ttl_ms = 60'000}};     values in the order added
//   MapState<std::string, int> seen{"seen"};               values by a key of their own
//   ReducingState<double, std::plus<>> sum{"sum"};         values folded by a function
//   AggregatingState<CountAggregate> count{"count"};       by an aggregate (hummer/aggregate.hpp)
//
// Each reads and writes the value that belongs to the key of the record (or
// timer) in hand. The name is the state's in snapshots; two of one name in a
// function are refused. Values have a codec and own their memory.
//
// References and pointers that a state gives are good until the state is written
// to or the call ends. MapState is ordered by its keys (operator< where the type
// has one, else the order of their canonical bytes), so that what is emitted from
// it comes in the same order everywhere.
//
// Time to live: see StateOptions. Thread: that of the operator. Cost: the first
// touch per record hashes the key and finds its entry, further ones add an offset.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <hummer/aggregate.hpp>
#include <hummer/codec.hpp>
#include <hummer/record_type.hpp>
#include <hummer/state/keyed_backend.hpp>

namespace hummer {
namespace detail {

// About what a value holds beside itself; what is inside other types is guessed.
template <typename T>
std::size_t heap_bytes_of(const T& value) {
  constexpr std::size_t per_allocation = 16;
  if constexpr (std::is_trivially_copyable_v<T>) {
    return 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.capacity() < sizeof(T) / 2 ? 0 : value.capacity() + per_allocation;
  } else if constexpr (requires { value.capacity() * sizeof(*value.data()); }) {
    using Element = std::remove_cvref_t<decltype(*value.data())>;
    const std::size_t inside =
        value.empty() ? 0 : value.size() * heap_bytes_of<Element>(value.front());
    return value.capacity() * sizeof(Element) + per_allocation + inside;
  } else {
    return 2 * sizeof(T);
  }
}

template <typename T>
consteval bool check_state_type() {
  if constexpr (check_record_type<T>()) {
    static_assert(!holds_views<T>,
                  "a state's value must own its memory: use std::string instead of "
                  "std::string_view, and copies of the fields instead of text blocks");
    return !holds_views<T>;
  } else {
    return false;
  }
}

// Of a type that was refused: so that nothing more is said of it.
struct NoCodec {
  static std::string name() { return {}; }
  template <typename T>
  static void encode(const T&, ByteWriter&) {}
  template <typename T>
  static bool decode(ByteReader&, T&) {
    return false;
  }
};
template <typename T>
using StateCodec = std::conditional_t<check_state_type<T>(), Codec<T>, NoCodec>;

// What all states share: finding their cell. Cell: default constructible, has
// empty(), encode(ByteWriter&), decode(ByteReader&), expires_by(now), expire(now), and
// live_forever() and live_until(time), which is about what has no end yet.
template <typename Cell>
class StateOf : public KeyedState {
 public:
  using KeyedState::KeyedState;

  std::size_t cell_size() const final { return sizeof(Cell); }
  std::size_t cell_alignment() const final { return alignof(Cell); }
  void construct(KeyedEntry& entry) const final { new (cell_of(entry)) Cell(); }
  void destroy(KeyedEntry& entry) const final { std::destroy_at(&cell(entry)); }
  bool present(const KeyedEntry& entry) const final {
    return !static_cast<const Cell*>(cell_of(entry))->empty();
  }
  void encode(const KeyedEntry& entry, ByteWriter& out) const final {
    static_cast<const Cell*>(cell_of(entry))->encode(out);
  }
  bool decode(ByteReader& in, KeyedEntry& entry) const final {
    if (!cell(entry).decode(in) || cell(entry).empty()) return false;
    // Who wrote it may have had another time to live: see StateOptions.
    if (has_ttl()) {
      cell(entry).live_until(fresh_expiry());
    } else {
      cell(entry).live_forever();
    }
    ++entry.live;
    return true;
  }
  void expire(KeyedEntry& entry, Timestamp now) const final {
    if (cell(entry).empty() || !cell(entry).expires_by(now)) return;
    backend().changing(entry);
    cell(entry).expire(now);
    if (cell(entry).empty()) --entry.live;
  }
  Timestamp last_expiry(const KeyedEntry& entry) const final {
    return static_cast<const Cell*>(cell_of(entry))->last_expiry();
  }
  std::size_t heap_bytes(const KeyedEntry& entry) const final {
    return static_cast<const Cell*>(cell_of(entry))->heap_bytes();
  }
  bool uses_heap() const final { return Cell::uses_heap; }
  void clear() {
    KeyedEntry* const entry = backend().find();
    if (entry == nullptr || cell(*entry).empty()) return;
    backend().changing(*entry);
    cell(*entry) = Cell();
    --entry->live;
  }

 protected:
  // What there is of the key in hand, or null.
  Cell* find_cell() const {
    KeyedEntry* const entry = backend().find();
    if (entry == nullptr) return nullptr;
    if (has_ttl()) expire(*entry, backend().now_ms());
    Cell& found = cell(*entry);
    if (found.empty()) return nullptr;
    if (touches_on_read()) backend().changing(*entry);
    return &found;
  }
  // Calls change(cell), which leaves a value in it (or none).
  template <typename Change>
  decltype(auto) change_cell(Change&& change) {
    KeyedEntry& entry = backend().obtain();
    if (has_ttl()) expire(entry, backend().now_ms());
    backend().changing(entry);
    Recount recount{entry, cell(entry), !cell(entry).empty()};
    return change(cell(entry));
  }
  Cell& cell(KeyedEntry& entry) const { return *static_cast<Cell*>(cell_of(entry)); }

 private:
  // Also when change() throws.
  struct Recount {
    KeyedEntry& entry;
    const Cell& cell;
    bool was_present;
    ~Recount() {
      const bool is_present = !cell.empty();
      if (is_present != was_present) entry.live += is_present ? 1u : ~0u;
    }
  };
};

template <typename T>
struct ValueCell {
  std::optional<T> value;
  Timestamp expires = end_of_time;

  static constexpr bool uses_heap = !std::is_trivially_copyable_v<T>;

  bool empty() const { return !value.has_value(); }
  Timestamp last_expiry() const { return expires; }
  std::size_t heap_bytes() const { return value ? heap_bytes_of(*value) : 0; }
  bool expires_by(Timestamp now) const { return expires <= now; }
  void expire(Timestamp now) {
    if (expires <= now) value.reset();
  }
  void live_forever() { expires = end_of_time; }
  void live_until(Timestamp time) {
    if (expires == end_of_time) expires = time;
  }
  void encode(ByteWriter& out) const {
    out.put_value(expires);
    StateCodec<T>::encode(*value, out);
  }
  bool decode(ByteReader& in) {
    return in.get_value(expires) && StateCodec<T>::decode(in, value.emplace());
  }
};

template <typename T>
struct ListCell {
  std::vector<T> values;
  std::vector<Timestamp> expires;  // one per value, or none at all; never decreasing

  static constexpr bool uses_heap = true;

  bool empty() const { return values.empty(); }
  Timestamp last_expiry() const { return expires.empty() ? end_of_time : expires.back(); }
  std::size_t heap_bytes() const { return heap_bytes_of(values) + heap_bytes_of(expires); }
  bool expires_by(Timestamp now) const { return !expires.empty() && expires.front() <= now; }
  void expire(Timestamp now) {
    const auto gone = std::upper_bound(expires.begin(), expires.end(), now) - expires.begin();
    if (gone == 0) return;
    values.erase(values.begin(), values.begin() + gone);
    expires.erase(expires.begin(), expires.begin() + gone);
  }
  void live_forever() { expires.clear(); }
  // Those that were added last, or all. Where the clock or the time to live has gone back since the
  // ones before, they live as long as those: so what has to go is always in front.
  void live_until(Timestamp time) {
    expires.resize(values.size(), expires.empty() ? time : std::max(time, expires.back()));
  }
  void encode(ByteWriter& out) const {
    out.put_value(static_cast<std::uint32_t>(values.size()));
    out.put_value(static_cast<std::uint8_t>(!expires.empty()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!expires.empty()) out.put_value(expires[i]);
      StateCodec<T>::encode(values[i], out);
    }
  }
  bool decode(ByteReader& in) {
    std::uint32_t count = 0;
    std::uint8_t timed = 0;
    if (!in.get_value(count) || !in.get_value(timed)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (timed != 0 && !in.get_value(expires.emplace_back())) return false;
      T value{};
      if (!StateCodec<T>::decode(in, value)) return false;
      values.push_back(std::move(value));
    }
    // Older snapshots have them as the clock was.
    for (std::size_t i = 1; i < expires.size(); ++i) {
      expires[i] = std::max(expires[i], expires[i - 1]);
    }
    return true;
  }
};

template <typename K>
struct CanonicalLess {
  bool operator()(const K& a, const K& b) const {
    if constexpr (requires {
                    { a < b } -> std::convertible_to<bool>;
                  } && !std::is_floating_point_v<K>) {
      return a < b;
    } else {
      return bytes(a) < bytes(b);
    }
  }
  static std::string bytes(const K& key) {
    std::string space;
    ByteWriter out(space, true);
    StateCodec<K>::encode(key, out);
    return std::string(out.view());
  }
};

template <typename K, typename V>
struct MapCell {
  struct Mapped {
    V value;
    Timestamp expires = end_of_time;
  };
  std::map<K, Mapped, CanonicalLess<K>> values;

  static constexpr bool uses_heap = true;

  bool empty() const { return values.empty(); }
  Timestamp last_expiry() const {
    Timestamp last = no_timestamp;
    for (const auto& item : values) last = std::max(last, item.second.expires);
    return last;
  }
  std::size_t heap_bytes() const {
    constexpr std::size_t node_bytes = sizeof(typename decltype(values)::value_type) + 48;
    if (values.empty()) return 0;
    const auto& [key, mapped] = *values.begin();
    return values.size() * (node_bytes + heap_bytes_of(key) + heap_bytes_of(mapped.value));
  }
  bool expires_by(Timestamp now) const {
    return std::any_of(values.begin(), values.end(),
                       [now](const auto& item) { return item.second.expires <= now; });
  }
  void expire(Timestamp now) {
    std::erase_if(values, [now](const auto& item) { return item.second.expires <= now; });
  }
  void live_forever() {
    for (auto& item : values) item.second.expires = end_of_time;
  }
  void live_until(Timestamp time) {
    for (auto& item : values) {
      if (item.second.expires == end_of_time) item.second.expires = time;
    }
  }
  void encode(ByteWriter& out) const {
    out.put_value(static_cast<std::uint32_t>(values.size()));
    for (const auto& [key, mapped] : values) {
      out.put_value(mapped.expires);
      StateCodec<K>::encode(key, out);
      StateCodec<V>::encode(mapped.value, out);
    }
  }
  bool decode(ByteReader& in) {
    std::uint32_t count = 0;
    if (!in.get_value(count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      K key{};
      Mapped mapped{};
      if (!in.get_value(mapped.expires) || !StateCodec<K>::decode(in, key) ||
          !StateCodec<V>::decode(in, mapped.value)) {
        return false;
      }
      values.insert_or_assign(std::move(key), std::move(mapped));
    }
    return true;
  }
};

}  // namespace detail

template <typename T>
class ValueState final : public detail::StateOf<detail::ValueCell<T>> {
  static_assert(detail::check_state_type<T>() || true);

 public:
  explicit ValueState(std::string_view name, StateOptions options = {})
      : detail::StateOf<detail::ValueCell<T>>(name, options) {}
  std::string describe_type() const override {
    return "value<" + detail::StateCodec<T>::name() + ">";
  }

  // Null when there is none.
  const T* find() const {
    auto* const cell = this->find_cell();
    if (cell == nullptr) return nullptr;
    if (this->touches_on_read()) cell->expires = this->fresh_expiry();
    return &*cell->value;
  }
  bool has_value() const { return find() != nullptr; }
  T get_or(T otherwise) const {
    const T* const value = find();
    return value ? *value : std::move(otherwise);
  }
  void set(T value) {
    this->change_cell([&](auto& cell) {
      cell.value = std::move(value);
      cell.expires = this->fresh_expiry();
    });
  }
  // change(T&): of the value there is, or of `initial`.
  template <typename Change>
  const T& update(T initial, Change&& change) {
    return this->change_cell([&](auto& cell) -> const T& {
      if (!cell.value) cell.value.emplace(std::move(initial));
      cell.expires = this->fresh_expiry();
      change(*cell.value);
      return *cell.value;
    });
  }
};

template <typename T>
class ListState final : public detail::StateOf<detail::ListCell<T>> {
  static_assert(detail::check_state_type<T>() || true);

 public:
  explicit ListState(std::string_view name, StateOptions options = {})
      : detail::StateOf<detail::ListCell<T>>(name, options) {}
  std::string describe_type() const override {
    return "list<" + detail::StateCodec<T>::name() + ">";
  }

  std::span<const T> get() const {
    auto* const cell = this->find_cell();
    if (cell == nullptr) return {};
    if (this->touches_on_read()) {
      std::fill(cell->expires.begin(), cell->expires.end(), this->fresh_expiry());
    }
    return cell->values;
  }
  std::size_t size() const { return get().size(); }
  bool empty() const { return get().empty(); }
  void add(T value) {
    this->change_cell([&](auto& cell) {
      cell.values.push_back(std::move(value));
      if (this->has_ttl()) cell.live_until(this->fresh_expiry());
    });
  }
  void set(std::vector<T> values) {
    this->change_cell([&](auto& cell) {
      cell.values = std::move(values);
      cell.expires.clear();
      if (this->has_ttl()) cell.live_until(this->fresh_expiry());
    });
  }
  // change(std::vector<T>&); all that is left then was written now.
  template <typename Change>
  void update(Change&& change) {
    this->change_cell([&](auto& cell) {
      change(cell.values);
      cell.expires.clear();
      if (this->has_ttl()) cell.live_until(this->fresh_expiry());
    });
  }
};

template <typename K, typename V>
class MapState final : public detail::StateOf<detail::MapCell<K, V>> {
  static_assert((detail::check_state_type<K>() && detail::check_state_type<V>()) || true);

 public:
  explicit MapState(std::string_view name, StateOptions options = {})
      : detail::StateOf<detail::MapCell<K, V>>(name, options) {}
  std::string describe_type() const override {
    return "map<" + detail::StateCodec<K>::name() + "," + detail::StateCodec<V>::name() + ">";
  }

  const V* find(const K& key) const {
    auto* const cell = this->find_cell();
    if (cell == nullptr) return nullptr;
    const auto found = cell->values.find(key);
    if (found == cell->values.end()) return nullptr;
    if (this->touches_on_read()) found->second.expires = this->fresh_expiry();
    return &found->second.value;
  }
  bool contains(const K& key) const { return find(key) != nullptr; }
  V get_or(const K& key, V otherwise) const {
    const V* const value = find(key);
    return value ? *value : std::move(otherwise);
  }
  void put(K key, V value) {
    this->change_cell([&](auto& cell) {
      cell.values.insert_or_assign(std::move(key), typename detail::MapCell<K, V>::Mapped{
                                                       std::move(value), this->fresh_expiry()});
    });
  }
  // change(V&): of the value there is, or of `initial`.
  template <typename Change>
  const V& update(K key, V initial, Change&& change) {
    return this->change_cell([&](auto& cell) -> const V& {
      auto at = cell.values.find(key);
      if (at == cell.values.end()) {
        at = cell.values.try_emplace(std::move(key)).first;
        at->second.value = std::move(initial);
      }
      at->second.expires = this->fresh_expiry();
      change(at->second.value);
      return at->second.value;
    });
  }
  void remove(const K& key) {
    if (this->find_cell() == nullptr) return;
    this->change_cell([&](auto& cell) { cell.values.erase(key); });
  }
  std::size_t size() const {
    auto* const cell = this->find_cell();
    return cell == nullptr ? 0 : cell->values.size();
  }
  bool empty() const { return size() == 0; }
  // visit(const K&, const V&), in order. REQUIRES: visit does not change this state.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    auto* const cell = this->find_cell();
    if (cell == nullptr) return;
    for (auto& [key, mapped] : cell->values) {
      if (this->touches_on_read()) mapped.expires = this->fresh_expiry();
      visit(key, static_cast<const V&>(mapped.value));
    }
  }
};

// Reduce: function(const T&, const T&) → T, without state of its own.
template <typename T, typename Reduce>
class ReducingState final : public detail::StateOf<detail::ValueCell<T>> {
  static_assert(detail::check_state_type<T>() || true);

 public:
  explicit ReducingState(std::string_view name, StateOptions options = {}, Reduce reduce = {})
      : detail::StateOf<detail::ValueCell<T>>(name, options), reduce_(std::move(reduce)) {}
  std::string describe_type() const override {
    return "value<" + detail::StateCodec<T>::name() + ">";
  }

  const T* find() const {
    auto* const cell = this->find_cell();
    if (cell == nullptr) return nullptr;
    if (this->touches_on_read()) cell->expires = this->fresh_expiry();
    return &*cell->value;
  }
  T get_or(T otherwise) const {
    const T* const value = find();
    return value ? *value : std::move(otherwise);
  }
  const T& add(T value) {
    return this->change_cell([&](auto& cell) -> const T& {
      if (cell.value) {
        cell.value = reduce_(std::as_const(*cell.value), std::as_const(value));
      } else {
        cell.value = std::move(value);
      }
      cell.expires = this->fresh_expiry();
      return *cell.value;
    });
  }

 private:
  Reduce reduce_;
};

template <typename Aggregate>
class AggregatingState final
    : public detail::StateOf<detail::ValueCell<typename Aggregate::Accumulator>> {
  using Accumulator = typename Aggregate::Accumulator;
  static_assert(detail::check_state_type<Accumulator>() || true);

 public:
  explicit AggregatingState(std::string_view name, StateOptions options = {},
                            Aggregate aggregate = {})
      : detail::StateOf<detail::ValueCell<Accumulator>>(name, options),
        aggregate_(std::move(aggregate)) {}
  std::string describe_type() const override {
    return "aggregate<" + detail::StateCodec<Accumulator>::name() + ">";
  }

  // Nothing before the first record.
  std::optional<typename Aggregate::Result> result() const {
    auto* const cell = this->find_cell();
    if (cell == nullptr) return std::nullopt;
    if (this->touches_on_read()) cell->expires = this->fresh_expiry();
    return aggregate_.result(*cell->value);
  }
  template <typename Record>
  void add(const Record& record) {
    this->change_cell([&](auto& cell) {
      const bool is_new = !cell.value.has_value();
      if (is_new) cell.value.emplace();
      aggregate_.add(*cell.value, is_new, record);
      cell.expires = this->fresh_expiry();
    });
  }

 private:
  Aggregate aggregate_;
};

// What a function that is no aggregate lists its states with:
//   auto states() { return hummer::states(first_, second_); }
template <typename... States>
auto states(States&... all) {
  return std::tuple<States&...>(all...);
}

}  // namespace hummer
