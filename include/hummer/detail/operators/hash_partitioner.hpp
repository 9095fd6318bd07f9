// HashPartitioner: spreads records over downstream subtasks by key group.
//
// One per upstream subtask of a hash edge; see Partitioner and key_hash.hpp.
// Cost: one XXH3 of the key and one copy (or move) per record.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/view_check.hpp>
#include <hummer/detail/partitioner.hpp>

namespace hummer {

// The subtask of each key group.
[[gnu::cold]] std::vector<std::uint16_t> owners_of_groups(std::uint32_t targets,
                                                          std::uint32_t groups);

template <typename T, typename KeyOf>
class HashPartitioner final : public Partitioner {
 public:
  HashPartitioner(KeyOf key_of, std::uint32_t targets, std::uint32_t groups)
      : key_of_(std::move(key_of)), groups_(groups), owners_(owners_of_groups(targets, groups)) {}

  OperatorResult scatter(Batch& in, std::vector<Batch>& targets,
                         std::uint32_t soft_limit) override {
    const auto records = in.values<T>();
    const bool move = in.unique();
    const bool timed = in.has_timestamps();
    RecordInHand in_hand(in);
    for (std::size_t i = in.position(); i < records.size(); ++i) {
      in_hand.set(i);
      const auto& key = std::invoke(key_of_, records[i]);
      check_key<std::invoke_result_t<KeyOf&, const T&>>(key);
      Batch& target = targets[owners_[key_group(key_hash(key), groups_)]];
      T* place = target.mutable_values<T>() + target.size();
      if constexpr (std::is_trivially_copyable_v<T>) {
        *place = records[i];
      } else if (move) {
        new (place) T(std::move(const_cast<T&>(records[i])));
      } else if constexpr (std::is_copy_constructible_v<T>) {
        new (place) T(records[i]);
      }
      std::vector<Timestamp>& times = target.timestamps();
      if (timed || !times.empty()) {
        if (times.size() != target.size()) times.resize(target.size(), no_timestamp);
        times.push_back(timed ? in.timestamps()[i] : no_timestamp);
      }
      target.set_size(target.size() + 1);
      if (target.size() >= soft_limit) {
        in_hand.set(i + 1);
        return i + 1 == records.size() ? OperatorResult::done : OperatorResult::more;
      }
    }
    in_hand.set(records.size());
    return OperatorResult::done;
  }

 private:
  KeyOf key_of_;
  std::uint32_t groups_;
  std::vector<std::uint16_t> owners_;
};

template <typename T, typename KeyOf>
class HashPartitionerFactory final : public PartitionerFactory {
 public:
  explicit HashPartitionerFactory(KeyOf key_of) : key_of_(std::move(key_of)) {}
  [[gnu::cold]] std::unique_ptr<Partitioner> make(std::uint32_t targets,
                                                  std::uint32_t groups) const override {
    return std::make_unique<HashPartitioner<T, KeyOf>>(key_of_, targets, groups);
  }

 private:
  KeyOf key_of_;
};

template <typename T, typename KeyOf>
std::shared_ptr<const PartitionerFactory> hash_partitioner(KeyOf key_of) {
  return share(std::make_unique<const HashPartitionerFactory<T, KeyOf>>(std::move(key_of)));
}

}  // namespace hummer
