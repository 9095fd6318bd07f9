// BroadcastState<K, V>: a map that is the same in all subtasks, such as rules.
//
//   struct Judge {
//     BroadcastState<std::uint32_t, Rule> rules{"rules"};
//     void process(const Event& event, KeyedOutput<Alert>& out) {
//       if (const Rule* rule = rules.find(event.kind)) ...
//     }
//     void process_broadcast(const Rule& rule, BroadcastOutput<Alert>& out) {
//       out.state(rules).put(rule.kind, rule);
//     }
//   };
//
// A member of a function behind `keyed.connect(stream.broadcast())`. Only the
// broadcast side, which sees every record in every subtask, can write to it, and
// that by the records alone (not by subtask, clock or chance): so all copies agree.
// Each subtask writes its copy into a snapshot; a restored one takes the first. It is in memory as
// a whole, and counted: where it has no room the job fails by name (limit_exceeded).
//
// Thread: that of the operator.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <hummer/keyed_states.hpp>

namespace hummer {

template <typename K, typename V>
class BroadcastWriter;

class BroadcastStateBase {
 public:
  explicit BroadcastStateBase(std::string_view name) : name_(name) {}
  virtual ~BroadcastStateBase() = default;
  const std::string& name() const { return name_; }
  virtual std::string describe_type() const = 0;
  virtual std::size_t memory_bytes() const = 0;  // about
  virtual void encode(ByteWriter& out) const = 0;
  [[nodiscard]] virtual bool decode(ByteReader& in) = 0;

 protected:
  BroadcastStateBase(const BroadcastStateBase&) = default;
  BroadcastStateBase& operator=(const BroadcastStateBase&) = default;

 private:
  std::string name_;
};

template <typename K, typename V>
class BroadcastState final : public BroadcastStateBase {
  static_assert(detail::check_state_type<K>() && detail::check_state_type<V>());

 public:
  explicit BroadcastState(std::string_view name) : BroadcastStateBase(name) {}

  const V* find(const K& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  bool contains(const K& key) const { return values_.count(key) != 0; }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  // In order of the keys: for (const auto& [key, value] : rules).
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  std::size_t memory_bytes() const override { return bytes_; }
  std::string describe_type() const override {
    return "broadcast<" + Codec<K>::name() + "," + Codec<V>::name() + ">";
  }
  void encode(ByteWriter& out) const override {
    out.put_value(static_cast<std::uint64_t>(values_.size()));
    for (const auto& [key, value] : values_) {
      Codec<K>::encode(key, out);
      Codec<V>::encode(value, out);
    }
  }
  bool decode(ByteReader& in) override {
    std::uint64_t count = 0;
    if (!in.get_value(count)) return false;
    clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      K key{};
      V value{};
      if (!Codec<K>::decode(in, key) || !Codec<V>::decode(in, value)) return false;
      put(std::move(key), std::move(value));
    }
    return true;
  }

 private:
  friend class BroadcastWriter<K, V>;
  using Values = std::map<K, V, detail::CanonicalLess<K>>;

  static std::size_t bytes_of(const typename Values::value_type& entry) {
    constexpr std::size_t node_bytes = sizeof(entry) + 48;
    return node_bytes + detail::heap_bytes_of(entry.first) + detail::heap_bytes_of(entry.second);
  }
  void put(K key, V value) {
    const auto at = values_.lower_bound(key);
    if (at != values_.end() && !values_.key_comp()(key, at->first)) {
      bytes_ -= bytes_of(*at);
      at->second = std::move(value);
      bytes_ += bytes_of(*at);
    } else {
      bytes_ += bytes_of(*values_.emplace_hint(at, std::move(key), std::move(value)));
    }
  }
  void remove(const K& key) {
    const auto at = values_.find(key);
    if (at == values_.end()) return;
    bytes_ -= bytes_of(*at);
    values_.erase(at);
  }
  void clear() {
    values_.clear();
    bytes_ = 0;
  }

  Values values_;
  std::size_t bytes_ = 0;
};

// What BroadcastOutput::state gives.
template <typename K, typename V>
class BroadcastWriter {
 public:
  explicit BroadcastWriter(BroadcastState<K, V>& state) : state_(state) {}
  void put(K key, V value) { state_.put(std::move(key), std::move(value)); }
  void remove(const K& key) { state_.remove(key); }
  void clear() { state_.clear(); }

 private:
  BroadcastState<K, V>& state_;
};

}  // namespace hummer
