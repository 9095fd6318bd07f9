// The cells of the states that a keyed function declares (hummer/keyed_states.hpp): what lies in a
// key's entry, how it is encoded, and when it expires.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/codec.hpp>
#include <hummer/detail/record_type.hpp>
#include <hummer/detail/state/keyed_backend.hpp>

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
// empty(), clear(), encode(ByteWriter&), decode(ByteReader&), expires_by(now), expire(now), and
// live_forever() and live_until(time), which is about what has no end yet. One that
// expires_by_element may hold what has expired when it is found: expiring it is more than a look-up
// may cost.
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
    cell(*entry).clear();
    --entry->live;
  }

 protected:
  // What there is of the key in hand, or null.
  Cell* find_cell() const {
    KeyedEntry* const entry = backend().find();
    if (entry == nullptr) return nullptr;
    if (has_ttl() && !by_element) expire(*entry, backend().now_ms());
    Cell& found = cell(*entry);
    if (found.empty()) return nullptr;
    if (touches_on_read()) backend().changing(*entry);
    return &found;
  }
  // Calls change(cell), which leaves a value in it (or none).
  template <typename Change>
  decltype(auto) change_cell(Change&& change) {
    KeyedEntry& entry = backend().obtain();
    if (has_ttl() && !by_element) expire(entry, backend().now_ms());
    backend().changing(entry);
    Recount recount{entry, cell(entry), !cell(entry).empty()};
    return change(cell(entry));
  }
  Cell& cell(KeyedEntry& entry) const { return *static_cast<Cell*>(cell_of(entry)); }
  // What there is of the key in hand has expired where it should.
  void expire_in_hand() const {
    KeyedEntry* const entry = has_ttl() ? backend().find() : nullptr;
    if (entry != nullptr) expire(*entry, backend().now_ms());
  }

 private:
  static constexpr bool by_element = requires { requires Cell::expires_by_element; };

  // Also when change() throws.
  struct Recount {
    KeyedEntry& entry;
    const Cell& cell;
    bool was_present;
    ~Recount() {
      const bool is_present = !cell.empty();
      if (is_present != was_present) entry.count(is_present);
    }
  };
};

// A value, or none. When it expires says which: an optional beside it would take a word more.
template <typename T>
class ValueCell {
 public:
  ValueCell() {}
  ~ValueCell() { clear(); }
  ValueCell(const ValueCell&) = delete;
  ValueCell& operator=(const ValueCell&) = delete;

  static constexpr bool uses_heap = !std::is_trivially_copyable_v<T>;

  bool empty() const { return expires_ == nothing; }
  // REQUIRES: not empty.
  T& value() { return value_; }
  const T& value() const { return value_; }
  void set(T value, Timestamp expires) {
    if (empty()) {
      std::construct_at(&value_, std::move(value));
    } else {
      value_ = std::move(value);
    }
    expires_ = expires;
  }
  void set_expiry(Timestamp expires) { expires_ = expires; }
  void clear() {
    if (empty()) return;
    std::destroy_at(&value_);
    expires_ = nothing;
  }

  Timestamp last_expiry() const { return expires_; }
  std::size_t heap_bytes() const { return empty() ? 0 : heap_bytes_of(value_); }
  bool expires_by(Timestamp now) const { return expires_ <= now; }
  void expire(Timestamp now) {
    if (expires_ <= now) clear();
  }
  void live_forever() { expires_ = end_of_time; }
  void live_until(Timestamp time) {
    if (expires_ == end_of_time) expires_ = time;
  }
  void encode(ByteWriter& out) const {
    out.put_value(expires_);
    StateCodec<T>::encode(value_, out);
  }
  bool decode(ByteReader& in) {
    Timestamp expires = 0;
    if (!in.get_value(expires) || expires == nothing) return false;
    set(T{}, expires);
    return StateCodec<T>::decode(in, value_);
  }

 private:
  static constexpr Timestamp nothing = no_timestamp;

  union {
    T value_;
  };
  Timestamp expires_ = nothing;
};

template <typename T>
struct ListCell {
  std::vector<T> values;
  std::vector<Timestamp> expires;  // one per value, or none at all; never decreasing
  std::size_t gone = 0;            // the first ones, which have expired, as long as they are few

  static constexpr bool uses_heap = true;

  bool empty() const { return values.empty(); }
  void clear() { *this = {}; }
  std::span<const T> live() const { return std::span(values).subspan(gone); }
  void drop_gone() {
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(gone));
    if (!expires.empty()) {
      expires.erase(expires.begin(), expires.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    gone = 0;
  }
  Timestamp last_expiry() const { return expires.empty() ? end_of_time : expires.back(); }
  std::size_t heap_bytes() const { return heap_bytes_of(values) + heap_bytes_of(expires); }
  bool expires_by(Timestamp now) const { return !expires.empty() && expires[gone] <= now; }
  // Moves the others when they are fewer than those that go.
  void expire(Timestamp now) {
    if (!expires_by(now)) return;
    const auto first = expires.begin() + static_cast<std::ptrdiff_t>(gone);
    gone += static_cast<std::size_t>(std::upper_bound(first, expires.end(), now) - first);
    if (gone > values.size() / 2) drop_gone();
  }
  void live_forever() { expires.clear(); }
  // Those that were added last, or all. Where the clock or the time to live has gone back since the
  // ones before, they live as long as those: so what has to go is always in front.
  void live_until(Timestamp time) {
    expires.resize(values.size(), expires.empty() ? time : std::max(time, expires.back()));
  }
  void encode(ByteWriter& out) const {
    out.put_value(static_cast<std::uint32_t>(values.size() - gone));
    out.put_value(static_cast<std::uint8_t>(!expires.empty()));
    for (std::size_t i = gone; i < values.size(); ++i) {
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
  static constexpr bool expires_by_element = true;

  bool empty() const { return values.empty(); }
  void clear() { values.clear(); }
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

}  // namespace hummer
