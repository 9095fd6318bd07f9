// CustomPartitioner: spreads records over downstream subtasks as a user's function says
// (DataStream::partition_custom).
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/record_partitioner.hpp>

namespace hummer {

[[noreturn, gnu::cold]] void throw_no_such_partition(std::size_t partition,
                                                     std::uint32_t partitions);

template <typename T, typename Choose>
class ChosenOwners {
 public:
  ChosenOwners(Choose choose, std::uint32_t targets)
      : choose_(std::move(choose)), targets_(targets) {}

  auto bound() {
    return [&choose = choose_, targets = targets_](const T& record) -> std::size_t {
      const auto chosen = static_cast<std::size_t>(choose(record, targets));
      if (chosen >= targets) [[unlikely]]
        throw_no_such_partition(chosen, targets);
      return chosen;
    };
  }

 private:
  Choose choose_;
  std::uint32_t targets_;
};

template <typename T, typename Choose>
class CustomPartitionerFactory final : public PartitionerFactory {
 public:
  explicit CustomPartitionerFactory(Choose choose) : choose_(std::move(choose)) {}
  [[gnu::cold]] std::unique_ptr<Partitioner> make(std::uint32_t targets,
                                                  std::uint32_t /*groups*/) const override {
    return std::make_unique<RecordPartitioner<T, ChosenOwners<T, Choose>>>(choose_, targets);
  }

 private:
  Choose choose_;
};

template <typename T, typename Choose>
std::shared_ptr<const PartitionerFactory> custom_partitioner(Choose choose) {
  return share(std::make_unique<const CustomPartitionerFactory<T, Choose>>(std::move(choose)));
}

}  // namespace hummer
