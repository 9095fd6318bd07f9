// HashPartitioner: spreads records over downstream subtasks by key group (key_hash.hpp).
//
// Cost: one XXH3 of the key per record; keys of eight bytes are hashed some at a time where there
// are two targets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/record_partitioner.hpp>
#include <hummer/detail/state/hash_range.hpp>

namespace hummer {

// The subtask of each key group.
[[gnu::cold]] std::vector<std::uint16_t> owners_of_groups(std::uint32_t targets,
                                                          std::uint32_t groups);

template <typename T, typename KeyOf>
class OwnersOfKeys {
 public:
  OwnersOfKeys(KeyOf key_of, std::uint32_t targets, std::uint32_t groups)
      : key_of_(std::move(key_of)),
        groups_(groups),
        owners_(owners_of_groups(targets, groups)),
        of_first_(HashRange::of_owner(0, targets, groups)) {}

  auto bound() {
    return [&key_of = key_of_, owners = owners_.data(),
            groups = groups_](const T& record) -> std::size_t {
      const auto& key = std::invoke(key_of, record);
      check_key<std::invoke_result_t<KeyOf&, const T&>>(key);
      return owners[key_group(key_hash(key), groups)];
    };
  }
  // Of two targets.
  TwoTargets divide(std::span<const T> records) {
    using Key = std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>;
    const std::size_t known = leading(records.size(), [&](std::size_t i) {
      const auto& key = std::invoke(key_of_, records[i]);
      check_key<std::invoke_result_t<KeyOf&, const T&>>(key);
      divider_.set<Key>(i, key);
    });
    divider_.hash<Key>(known);
    const std::size_t of_first = divider_.divide(known, of_first_);
    return {divider_.inside(of_first), divider_.outside(known - of_first)};
  }

 private:
  KeyOf key_of_;
  std::uint32_t groups_;
  std::vector<std::uint16_t> owners_;
  HashRange of_first_;
  HashDivider divider_;
};

template <typename T, typename KeyOf>
using HashPartitioner = RecordPartitioner<T, OwnersOfKeys<T, KeyOf>>;

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
