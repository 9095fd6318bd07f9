// KeptWindowJoin: the state of a window join as version 0.1.0 has saved it, and how it is taken
// apart.
//
// It was a KeyedStore: a list of records per key and side, and the end of the next window that the
// key's timer was set for. It is restored into one here (by its own code: parts, deltas and memory
// are its business), and then handed over key by key, in the order of the timers.
//
// Lifecycle: open, restore what there is, take_all, gone. Thread: that of the operator.
// Errors: those of KeyedStore.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/operators/timed_records.hpp>
#include <hummer/detail/state/keyed_store.hpp>
#include <hummer/keyed_states.hpp>

namespace hummer {

class KeptWindowJoinBase {
 public:
  struct Record {
    std::size_t side;
    Timestamp time;
    std::string_view key;
    std::string_view record;
    Timestamp next_end;  // windows of its key that end before have gone out
  };

  virtual ~KeptWindowJoinBase() = default;

  Status open(OperatorContext& context);
  Status restore(ByteReader& in, const OperatorContext& context, bool delta) {
    return store().restore(in, context, {}, delta);
  }
  // Hands all records over, those of a side of a key in order, and forgets them; make_room comes
  // now and then.
  Status take_all(const std::function<void(const Record&)>& take,
                  const std::function<Status()>& make_room);

 protected:
  virtual KeyedStoreBase& store() = 0;
  virtual std::vector<KeyedState*> own_states() = 0;
  // Of the key in hand, which has nothing left then.
  virtual void take_key(const std::function<void(const Record&)>& take) = 0;
};

template <typename K, typename A, typename B>
class KeptWindowJoin final : public KeptWindowJoinBase {
  static constexpr bool by_text =
      std::is_same_v<K, std::string_view> || std::is_same_v<K, std::string>;
  using OwnedKey = std::conditional_t<by_text, std::string, K>;

 public:
  static std::string key_type() { return Codec<OwnedKey>::name(); }
  // What holds of the states in versions since, too.
  static std::vector<StateDescription> states() {
    return {{"first", ListState<Timed<A>>("first").describe_type()},
            {"second", ListState<Timed<B>>("second").describe_type()}};
  }
  static std::string_view key_bytes(const K& key, std::string& space) {
    if constexpr (by_text) {
      return key;
    } else {
      ByteWriter out(space, true);
      Codec<K>::encode(key, out);
      return out.view();
    }
  }
  // The bytes of a key that an earlier program wrote, as this one has them; false: not valid.
  static bool read_key(std::string_view saved, std::string& key) {
    if constexpr (by_text) {
      key = saved;
      return true;
    } else {
      ByteReader in(saved);
      K decoded{};
      if (!Codec<K>::decode(in, decoded) || in.left() != 0) return false;
      std::string space;
      key = key_bytes(decoded, space);
      return true;
    }
  }

 private:
  KeyedStoreBase& store() override { return store_; }
  std::vector<KeyedState*> own_states() override { return {&first_, &second_, &next_end_}; }
  void take_key(const std::function<void(const Record&)>& take) override {
    const Timestamp next_end = next_end_.get_or(no_timestamp);
    const std::string_view key = key_bytes(*store_.key(), key_space_);
    hand_over(0, first_, key, next_end, take);
    hand_over(1, second_, key, next_end, take);
    next_end_.clear();
  }
  template <typename T>
  void hand_over(std::size_t side, ListState<Timed<T>>& state, std::string_view key,
                 Timestamp next_end, const std::function<void(const Record&)>& take) {
    for (const Timed<T>& entry : state.get()) {
      ByteWriter out(record_space_);
      Codec<T>::encode(entry.record, out);
      take({side, entry.time, key, out.view(), next_end});
    }
    state.clear();
  }

  ListState<Timed<A>> first_{"first"};
  ListState<Timed<B>> second_{"second"};
  ValueState<Timestamp> next_end_{"next_end"};
  // Goes first: its entries are destroyed by the states.
  KeyedStore<K> store_{TimerKinds{.event = true}};
  std::string key_space_;
  std::string record_space_;
};

}  // namespace hummer
