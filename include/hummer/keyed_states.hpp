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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <hummer/aggregate.hpp>
#include <hummer/codec.hpp>
#include <hummer/detail/record_type.hpp>
#include <hummer/detail/state/state_cells.hpp>

namespace hummer {

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
    if (this->touches_on_read()) cell->set_expiry(this->fresh_expiry());
    return &cell->value();
  }
  bool has_value() const { return find() != nullptr; }
  T get_or(T otherwise) const {
    const T* const value = find();
    return value ? *value : std::move(otherwise);
  }
  void set(T value) {
    this->change_cell([&](auto& cell) { cell.set(std::move(value), this->fresh_expiry()); });
  }
  // change(T&): of the value there is, or of `initial`.
  template <typename Change>
  const T& update(T initial, Change&& change) {
    return this->change_cell([&](auto& cell) -> const T& {
      if (cell.empty()) cell.set(std::move(initial), this->fresh_expiry());
      cell.set_expiry(this->fresh_expiry());
      change(cell.value());
      return cell.value();
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
    return cell->live();
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
      cell.clear();
      cell.values = std::move(values);
      if (this->has_ttl()) cell.live_until(this->fresh_expiry());
    });
  }
  // change(std::vector<T>&); all that is left then was written now.
  template <typename Change>
  void update(Change&& change) {
    this->change_cell([&](auto& cell) {
      cell.drop_gone();
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
    if (found == cell->values.end() || has_expired(found->second)) return nullptr;
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
      cell.values.insert_or_assign(std::move(key), Mapped{std::move(value), this->fresh_expiry()});
    });
  }
  // change(V&): of the value there is, or of `initial`.
  template <typename Change>
  const V& update(K key, V initial, Change&& change) {
    return this->change_cell([&](auto& cell) -> const V& {
      auto at = cell.values.find(key);
      if (at == cell.values.end() || has_expired(at->second)) {
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
  // With a time to live it looks at all of them.
  std::size_t size() const {
    this->expire_in_hand();
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
      if (has_expired(mapped)) continue;
      if (this->touches_on_read()) mapped.expires = this->fresh_expiry();
      visit(key, static_cast<const V&>(mapped.value));
    }
  }

 private:
  using Mapped = typename detail::MapCell<K, V>::Mapped;
  bool has_expired(const Mapped& mapped) const {
    return this->has_ttl() && mapped.expires <= this->backend().now_ms();
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
    if (this->touches_on_read()) cell->set_expiry(this->fresh_expiry());
    return &cell->value();
  }
  T get_or(T otherwise) const {
    const T* const value = find();
    return value ? *value : std::move(otherwise);
  }
  const T& add(T value) {
    return this->change_cell([&](auto& cell) -> const T& {
      if (!cell.empty()) value = reduce_(std::as_const(cell.value()), std::as_const(value));
      cell.set(std::move(value), this->fresh_expiry());
      return cell.value();
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
    if (this->touches_on_read()) cell->set_expiry(this->fresh_expiry());
    return aggregate_.result(cell->value());
  }
  template <typename Record>
  void add(const Record& record) {
    this->change_cell([&](auto& cell) {
      const bool is_new = cell.empty();
      if (is_new) cell.set({}, this->fresh_expiry());
      aggregate_.add(cell.value(), is_new, record);
      cell.set_expiry(this->fresh_expiry());
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
