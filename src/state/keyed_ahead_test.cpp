// Keyed state on disk that is fetched ahead: whatever is shown, and whatever comes then, every key
// has the value that it had, in memory and in snapshots.
#include <gtest/gtest.h>

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hummer/detail/state/keyed_store.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/keyed_states.hpp>

#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::keyed_ahead_test {

struct Place {
  std::int32_t column = 0;
  std::string row;

  auto operator<=>(const Place&) const = default;
};

namespace {

struct OfKey {
  template <typename K>
  const K& operator()(const K& key) const {
    return key;
  }
};

template <typename K>
K key_of(std::uint64_t number) {
  if constexpr (std::is_integral_v<K>) {
    return static_cast<K>(number * 7919);
  } else if constexpr (std::is_same_v<K, std::string>) {
    return "key number " + std::to_string(number);
  } else {
    return {static_cast<std::int32_t>(number % 100), std::to_string(number / 100)};
  }
}

struct Value {
  std::uint64_t count = 0;
  std::string text;

  bool operator==(const Value&) const = default;
};

// A store with two states, and what it should hold.
template <typename K>
struct Kept {
  explicit Kept(OperatorContext& place) {
    EXPECT_TRUE(store.bind({&count, &text}).ok());
    store.open(place);
  }
  std::optional<Value> in_hand() {
    if (!count.has_value()) return std::nullopt;
    return Value{count.get_or(0), text.get_or("")};
  }

  ValueState<std::uint64_t> count{"count"};
  ValueState<std::string> text{"text"};
  KeyedStore<K> store{TimerKinds{}};
};

template <typename K>
class Rig {
 public:
  // `keys`: so many there may be.
  explicit Rig(std::uint64_t seed, std::uint64_t keys = 6000)
      : random_(seed),
        place_({.name = "count", .platform = node_.get(), .memory_limit_bytes = 30 * keys}),
        keys_max_(keys) {}

  void run(int rounds) {
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
      draw_keys();
      if (random_.chance(0.8)) look_ahead();
      if (random_.chance(0.9)) work();
      if (random_.chance(0.2)) make_room();
      // Many snapshots for a while, then hardly any: while one is under way little can be fetched.
      if (!frozen_ && random_.chance(round % 60 < 20 ? 0.5 : 0.02)) freeze();
      if (frozen_) write_some();
    }
    for (std::uint64_t number = 0; number < keys_max_; ++number) check(number);
    while (frozen_) write_some();
  }
  std::size_t reached() const { return reached_; }  // rounds in which looking ahead paid
  std::size_t deltas() const { return deltas_; }

 private:
  void draw_keys() {
    numbers_.clear();
    keys_.clear();
    const std::uint64_t count = 1 + random_.below(random_.chance(0.2) ? keys_max_ / 3 : 200);
    const std::uint64_t range = 1 + random_.below(keys_max_);
    for (std::uint64_t i = 0; i < count; ++i) {
      numbers_.push_back(random_.below(range));
      keys_.push_back(key_of<K>(numbers_.back()));
    }
  }
  void look_ahead() {
    reached_ += kept_.store.reach().none() ? 0 : 1;
    OfKey of_key;
    const std::span<const K> all(keys_);
    const std::size_t middle = random_.below(all.size() + 1);
    kept_.store.look_ahead(all.first(middle), of_key);
    kept_.store.look_ahead(all.subspan(middle), of_key);
    for (;;) {
      const Result<bool> fetched = kept_.store.fetch_ahead();
      ASSERT_TRUE(fetched.ok()) << fetched.status().to_string();
      if (*fetched) break;
      if (frozen_ && random_.chance(0.5)) write_some();
      if (random_.chance(0.5)) change_others();
    }
  }
  // As timers do, between two parts of what is fetched.
  void change_others() {
    for (std::uint64_t count = random_.below(40); count > 0; --count) {
      const std::uint64_t number = numbers_[random_.below(numbers_.size())];
      const K key = key_of<K>(number);
      kept_.store.set_key(key);
      change(number);
      kept_.store.leave_key();
    }
    if (random_.chance(0.5)) make_room();
  }
  // Of what was shown, or of something else.
  void work() {
    if (random_.chance(0.2)) draw_keys();
    OfKey of_key;
    for (std::size_t taken = 0; taken < keys_.size();) {
      const std::size_t first = taken;
      const std::size_t expected =
          kept_.store.expect(std::span<const K>(keys_).subspan(first), of_key);
      for (; taken < first + expected; ++taken) {
        kept_.store.set_expected_key(keys_[taken], taken - first);
        change(numbers_[taken]);
        kept_.store.leave_key();
      }
      if (random_.chance(0.3)) make_room();
    }
    make_room();
  }
  void make_room() { ASSERT_TRUE(kept_.store.keep_within_share().ok()); }
  void change(std::uint64_t number) {
    const auto found = model_.find(number);
    ASSERT_EQ(kept_.in_hand(), found == model_.end() ? std::nullopt : std::optional(found->second))
        << "of key " << number;
    if (random_.chance(0.2)) return;
    if (random_.chance(0.15)) {
      kept_.count.clear();
      kept_.text.clear();
      model_.erase(number);
      return;
    }
    Value& value = model_[number];
    value.count = random_.below(UINT64_MAX);
    value.text = std::string(random_.below(60), 'x');
    kept_.count.set(value.count);
    kept_.text.set(value.text);
  }
  void check(std::uint64_t number) {
    const K key = key_of<K>(number);
    kept_.store.set_key(key);
    const auto found = model_.find(number);
    ASSERT_EQ(kept_.in_hand(), found == model_.end() ? std::nullopt : std::optional(found->second))
        << "of key " << number;
    kept_.store.leave_key();
    if (number % 256 == 0) make_room();
  }

  void freeze() {
    frozen_ = model_;
    std::string head;
    ByteWriter out(head);
    const Result<bool> delta =
        kept_.store.freeze(!chain_.empty() && chain_.size() < 5 && random_.chance(0.8), out);
    ASSERT_TRUE(delta.ok());
    head.resize(out.size());
    if (!*delta) chain_.clear();
    deltas_ += *delta ? 1 : 0;
    chain_.push_back({.delta = *delta, .bytes = std::move(head)});
  }
  // Once all is written, it is what was there when it was frozen, with and without memory.
  void write_some() {
    std::string part;
    ByteWriter out(part);
    const Result<bool> all =
        kept_.store.write_frozen(out, 1 + random_.below(random_.chance(0.5) ? 20'000 : 1'000'000));
    ASSERT_TRUE(all.ok()) << all.status().to_string();
    part.resize(out.size());
    chain_.back().bytes += part;
    if (!*all) return;
    FakeOperatorContext place;
    if (random_.chance(0.1)) expect_restored(place);
    FakeOperatorContext little({.name = "count",
                                .platform = node_.get(),
                                .memory_limit_bytes = 1 + random_.below(150'000)});
    if (random_.chance(0.3)) expect_restored(little);
    frozen_.reset();
  }
  void expect_restored(OperatorContext& place) {
    Kept<K> other(place);
    for (const Piece& piece : chain_) {
      ByteReader in(piece.bytes);
      const Status status = other.store.restore(in, place, {}, piece.delta);
      ASSERT_TRUE(status.ok()) << status.to_string();
      ASSERT_TRUE(other.store.keep_within_share().ok());
    }
    for (std::uint64_t number = 0; number < keys_max_; ++number) {
      const K key = key_of<K>(number);
      other.store.set_key(key);
      const auto found = frozen_->find(number);
      ASSERT_EQ(other.in_hand(),
                found == frozen_->end() ? std::nullopt : std::optional(found->second))
          << "of key " << number << " in a chain of " << chain_.size();
      other.store.leave_key();
      if (number % 64 != 0) continue;
      ASSERT_TRUE(other.store.keep_within_share().ok());
    }
  }

  struct Piece {
    bool delta = false;
    std::string bytes;
  };
  Random random_;
  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
  FakeOperatorContext place_;
  const std::uint64_t keys_max_;
  Kept<K> kept_{place_};
  std::map<std::uint64_t, Value> model_;
  std::vector<std::uint64_t> numbers_;
  std::vector<K> keys_;
  std::vector<Piece> chain_;  // of snapshots, each on those before it
  std::optional<std::map<std::uint64_t, Value>> frozen_;
  std::size_t reached_ = 0;
  std::size_t deltas_ = 0;
};

class KeyedAheadSeeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Many, KeyedAheadSeeds,
                         testing::Range<std::uint64_t>(1, drawn_cases(4) + 1));

TEST_P(KeyedAheadSeeds, NumbersHaveTheirValues) {
  Rig<std::uint64_t> rig(GetParam(), 20'000);
  rig.run(120);
  EXPECT_GT(rig.reached(), 5u);
  EXPECT_GT(rig.deltas(), 0u);
}

TEST_P(KeyedAheadSeeds, SmallNumbersHaveTheirValues) {
  Rig<std::int32_t> rig(GetParam());
  rig.run(80);
}

TEST_P(KeyedAheadSeeds, TextsHaveTheirValues) {
  Rig<std::string> rig(GetParam());
  rig.run(80);
  EXPECT_GT(rig.reached(), 0u);
}

TEST_P(KeyedAheadSeeds, CompositeKeysHaveTheirValues) {
  Rig<Place> rig(GetParam());
  rig.run(80);
  EXPECT_GT(rig.reached(), 0u);
}

// A key that went, came again and went to disk between two snapshots: the second one says first
// that it is gone, and then what it is.
TEST(KeyedSpill, AKeyThatIsBackOnDiskIsNotGone) {
  using Key = std::uint64_t;
  constexpr Key keys = 500;
  const auto node = make_simulated_platform({.seed = 1});
  FakeOperatorContext place(
      {.name = "count", .platform = node.get(), .memory_limit_bytes = 150'000});
  Kept<Key> kept(place);
  const auto set = [&](const Key& key, std::uint64_t value) {
    kept.store.set_key(key);
    kept.count.set(value);
    kept.store.leave_key();
    ASSERT_TRUE(kept.store.keep_within_share().ok());
  };
  std::vector<std::string> pieces;
  const auto snapshot = [&](bool delta) {
    std::string& piece = pieces.emplace_back();
    ByteWriter out(piece);
    const Result<bool> frozen = kept.store.freeze(delta, out);
    ASSERT_TRUE(frozen.ok());
    EXPECT_EQ(*frozen, delta);
    while (!*kept.store.write_frozen(out, SIZE_MAX)) continue;
    piece.resize(out.size());
  };
  // What is on disk already lets the second one be a delta.
  for (Key key = 10 * keys; key < 20 * keys; ++key) set(key, 3);
  for (Key key = 0; key < keys; ++key) set(key, 1);
  snapshot(false);
  for (Key key = 0; key < keys; key += 7) {
    kept.store.set_key(key);
    kept.count.clear();
    kept.store.leave_key();
    set(key, 2);
  }
  for (Key key = keys; key < 10 * keys; ++key) set(key, 3);
  snapshot(true);
  for (std::size_t limit = 0; limit <= 600'000; limit += 40'000) {
    FakeOperatorContext other_place(
        {.name = "count", .platform = node.get(), .memory_limit_bytes = limit});
    Kept<Key> other(other_place);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      ByteReader in(pieces[i]);
      ASSERT_TRUE(other.store.restore(in, other_place, {}, i > 0).ok());
      ASSERT_TRUE(other.store.keep_within_share().ok());
    }
    for (Key key = 0; key < 20 * keys; ++key) {
      other.store.set_key(key);
      EXPECT_EQ(other.count.get_or(0), key >= keys    ? 3u
                                       : key % 7 == 0 ? 2u
                                                      : 1u)
          << "key " << key << " within " << limit;
      other.store.leave_key();
      if (key % 64 == 0) EXPECT_TRUE(other.store.keep_within_share().ok());
    }
  }
}

// A key with an older version on disk, of whose newer one only a state is left that the restored
// function does not have: of the older one nothing comes back.
TEST(KeyedSpill, NothingOlderComesBackInPlaceOfDroppedState) {
  using Key = std::uint64_t;
  constexpr Key keys = 3000;
  const auto node = make_simulated_platform({.seed = 1});
  FakeOperatorContext place(
      {.name = "count", .platform = node.get(), .memory_limit_bytes = 150'000});
  for (const bool as_delta : {false, true}) {
    Kept<Key> kept(place);
    const auto change = [&](const Key& key, auto&& to) {
      kept.store.set_key(key);
      to();
      kept.store.leave_key();
      ASSERT_TRUE(kept.store.keep_within_share().ok());
    };
    std::vector<std::string> pieces;
    const auto snapshot = [&] {
      std::string& piece = pieces.emplace_back();
      ByteWriter out(piece);
      const Result<bool> delta = kept.store.freeze(true, out);
      ASSERT_TRUE(delta.ok());
      EXPECT_EQ(*delta, pieces.size() > 1);
      while (!*kept.store.write_frozen(out, SIZE_MAX)) continue;
      piece.resize(out.size());
    };
    for (Key key = 0; key < keys; ++key) {
      change(key, [&] {
        kept.count.set(1);
        kept.text.set("");
      });
      if (as_delta && key == keys / 2) snapshot();
    }
    for (Key key = 0; key < keys; key += 7) change(key, [&] { kept.count.clear(); });
    snapshot();
    for (std::size_t limit = 0; limit <= 200'000; limit += 40'000) {
      FakeOperatorContext other_place(
          {.name = "count", .platform = node.get(), .memory_limit_bytes = limit});
      ValueState<std::uint64_t> count{"count"};
      KeyedStore<Key> other{TimerKinds{}};
      ASSERT_TRUE(other.bind({&count}).ok());
      other.open(other_place);
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        ByteReader in(pieces[i]);
        ASSERT_TRUE(other.restore(in, other_place, {.allow_dropped_state = true}, i > 0).ok());
      }
      for (Key key = 0; key < keys; ++key) {
        other.set_key(key);
        EXPECT_EQ(count.has_value(), key % 7 != 0) << "key " << key << " within " << limit;
        other.leave_key();
        if (key % 64 == 0) EXPECT_TRUE(other.keep_within_share().ok());
      }
    }
  }
}

}  // namespace
}  // namespace hummer::keyed_ahead_test
