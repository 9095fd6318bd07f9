// Entries that leave memory for a spilled store: wherever the background is with them, they are
// there once.
#include "state/leaving_runs.hpp"

#include <algorithm>

#include <hummer/detail/key_hash.hpp>

#include "state/spilled_store_test_rig.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::leaving_runs_test {
namespace {

using LeavingTest = SpilledStoreTestRig;
using Model = SpilledEntriesModel;

// Those of a model.
class ModelLeaves final : public LeavingEntries {
 public:
  ModelLeaves(Model model, int& alive) : model_(std::move(model)), alive_(alive) { ++alive_; }
  ~ModelLeaves() override { --alive_; }

  std::uint64_t size() const override { return model_.size(); }
  std::size_t memory_bytes() const override { return 1000; }
  Held find(std::uint64_t hash, std::string_view key, std::string& value) const override {
    const auto found = model_.find({hash, std::string(key)});
    if (found == model_.end()) return Held::no;
    if (!found->second) return Held::removed;
    value = *found->second;
    return Held::yes;
  }
  std::unique_ptr<SpilledScan> in_order() const override { return std::make_unique<Scan>(model_); }

 private:
  class Scan final : public SpilledScan {
   public:
    explicit Scan(const Model& model) : at_(model.begin()), end_(model.end()) {}
    Result<bool> prepare() override { return ++prepared_ % 50 != 1; }
    Result<bool> next() override {
      if (at_ == end_) return false;
      const auto& [key, value] = *at_++;
      entry_ = {.hash = key.first, .key = key.second, .value = {}, .removed = !value.has_value()};
      if (value) entry_.value = *value;
      return true;
    }
    const SpilledEntry& entry() const override { return entry_; }

   private:
    Model::const_iterator at_;
    const Model::const_iterator end_;
    int prepared_ = 0;
    SpilledEntry entry_;
  };

  const Model model_;
  int& alive_;
};

// The entries of a snapshot, over those of the snapshots before it, in steps.
void add_blocks(Model& all, SpilledBlocks& blocks, bool deltas) {
  for (;;) {
    for (bool ready = false; !ready;) {
      const Result<bool> prepared = blocks.prepare();
      ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
      ready = *prepared;
    }
    const Result<std::string_view> block = blocks.next();
    ASSERT_TRUE(block.ok()) << block.status().to_string();
    if (block->empty()) return;
    for (std::size_t at = 0; at < block->size();) {
      SpilledEntry entry;
      ASSERT_TRUE(read_spilled_entry(*block, at, entry));
      std::optional<std::string>& value = all[{entry.hash, std::string(entry.key)}];
      if (entry.removed) {
        value.reset();
      } else if (deltas && value) {
        *value += "," + std::string(entry.value);
      } else {
        value = entry.value;
      }
    }
  }
}

// Tables leave one after the other, some before the last one is written; the background has none to
// all of its turns; scans and snapshots begin and are read at any time; the store is cleared, and
// put together with others.
TEST_F(LeavingTest, WhereTheBackgroundIsMakesNoDifference) {
  int alive = 0;
  for (std::uint64_t seed = 1; seed <= drawn_cases(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto node = make_simulated_platform({.seed = seed});
    FakeOperatorContext context({.name = "count", .platform = node.get()});
    Random random(seed);
    const bool deltas = seed % 2 == 0;
    SpilledStoreOptions options;
    if (deltas) options.combine = concatenated;
    auto store = make_spilled_store(context, options);
    Model model, saved;
    std::vector<HeldScan> held;
    for (int step = 0; step < 60; ++step) {
      const Model run = draw_run(random, 1 + random.below(120), !deltas);
      if (random.chance(0.2)) {
        ASSERT_TRUE(store->finish_leaving().ok());
        ASSERT_TRUE(put(*store, run).ok());
      } else {
        store->leave(std::make_shared<ModelLeaves>(run, alive));
      }
      apply(model, run, deltas);
      const Nanoseconds until = node->now() + random.between(0, 3) * random.between(0, 400'000);
      (void)node->run_until([] { return false; }, until);
      if (random.chance(0.5)) {
        ASSERT_TRUE(store->advance().ok());
      }
      if (random.chance(0.3)) {
        ASSERT_TRUE(store->keep_pace(random.below(200)).ok());
      }
      if (random.chance(0.2)) held.push_back({store->scan(), all_of(model)});
      if (random.chance(0.1)) {
        held.push_back({store->freeze_entries(false).scan, all_of(model)});
        saved = model;
      }
      if (random.chance(0.2)) {
        SpilledStore::Frozen frozen = store->freeze(true);
        if (!frozen.delta) saved.clear();
        const auto expected = all_of(model);
        if (random.chance(0.5)) {
          ASSERT_TRUE(store->finish_leaving().ok());
        }
        add_blocks(saved, *frozen.blocks, deltas);
        ASSERT_TRUE(all_of(saved) == expected) << "seed " << seed << ", step " << step;
      }
      if (!held.empty() && random.chance(0.2)) read_one(held, random);
      for (const auto& [key, expected] : draw_run(random, 20, false)) {
        const auto in_model = model.find(key);
        const bool is_there = in_model != model.end() && in_model->second;
        if (deltas) {
          std::string value;
          (void)store->visit_leaving(key.first, key.second, [&](std::string_view part) {
            value += "," + std::string(part);
            return true;
          });
          ASSERT_TRUE(value.empty() || ("," + *in_model->second).ends_with(value));
        } else {
          std::string value;
          const Result<bool> found = store->find(key.first, key.second, value);
          ASSERT_TRUE(found.ok());
          ASSERT_EQ(*found, is_there) << "seed " << seed << ", step " << step;
          if (is_there) {
            ASSERT_EQ(value, *in_model->second);
          }
        }
      }
      if (random.chance(0.02)) {
        store->clear();
        model.clear();
      }
      if (random.chance(0.02)) {
        const auto other = make_spilled_store(context, options);
        Model added;
        for (const auto& [key, value] : draw_run(random, 100, false)) {
          const std::string name = "other " + std::to_string(step) + key.second;
          added[{hash_of(name), name}] = value;
        }
        other->leave(std::make_shared<ModelLeaves>(added, alive));
        apply(model, added, deltas);
        store->absorb(*other);
        ASSERT_TRUE(other->empty());
      }
      if (random.chance(0.3)) {
        ASSERT_TRUE(all_of(*store->scan()) == all_of(model)) << "seed " << seed << ", " << step;
      }
    }
    ASSERT_TRUE(store->finish_leaving().ok());
    EXPECT_EQ(alive, 0) << "their memory is free once they are on disk";
    store->leave(std::make_shared<ModelLeaves>(model, alive));
    store.reset();  // with what is under way
    (void)node->run_until([] { return false; }, never);
    while (!held.empty()) read_one(held, random);
    EXPECT_EQ(alive, 0);
  }
}

// By the time that as many came, of the first ones an eighth, all is written; also where the
// background has no turn.
TEST_F(LeavingTest, PaceIsKeptWithoutTheBackground) {
  int alive = 0;
  Random random(7);
  const auto store = make_spilled_store(context_, {});
  Model large;
  for (int i = 0; i < 3000; ++i) {
    const std::string key = "key " + std::to_string(i);
    large[{hash_of(key), key}] = std::string(1000, 'x');
  }
  for (const std::size_t within : {8u, 1u}) {
    store->leave(std::make_shared<ModelLeaves>(large, alive));
    std::size_t added = 0;
    for (; store->leaving(); added += 10) ASSERT_TRUE(store->keep_pace(added).ok());
    EXPECT_LE(added, large.size() / within + 20);
    EXPECT_GT(added, large.size() / within / 2) << "not sooner than it needs to";
  }
}

TEST_F(LeavingTest, CountsAsMemoryUntilItIsOnDisk) {
  int alive = 0;
  const auto store = make_spilled_store(context_, {});
  store->leave(std::make_shared<ModelLeaves>(Model{{{1, "a"}, "value"}}, alive));
  EXPECT_GE(store->memory_bytes(), 1000u);
  EXPECT_FALSE(store->empty());
  merge_all(*store);
  EXPECT_LT(store->memory_bytes(), 1000u);
  EXPECT_EQ(store->leaving_bytes(), 0u);
  EXPECT_EQ(alive, 0);
}

// Between what left and its run: the snapshot says so, and so does the operator, by name.
TEST_F(LeavingTest, ADiskThatIsFullBetweenABarrierAndItsRunIsSaid) {
  int alive = 0;
  const auto store = make_spilled_store(context_, {});
  store->leave(std::make_shared<ModelLeaves>(Model{{{1, "a"}, std::string(5000, 'x')}}, alive));
  const SpilledStore::Frozen frozen = store->freeze(false);
  const std::unique_ptr<SpilledScan> scan = store->scan();
  node_->simulation().options().disk_capacity_bytes = 1000;
  while (!*frozen.blocks->prepare()) {
  }
  for (const Status& status :
       {frozen.blocks->next().status(), scan->next().status(), store->advance()}) {
    EXPECT_EQ(status.code(), ErrorCode::disk_full);
    EXPECT_NE(status.message().find("'count'"), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace hummer::leaving_runs_test
