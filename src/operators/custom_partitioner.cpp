#include <hummer/detail/operators/custom_partitioner.hpp>

namespace hummer {

void throw_no_such_partition(std::size_t partition, std::uint32_t partitions) {
  // As it was answered: a negative number has come as a very large one.
  throw std::out_of_range("partition_custom: its function answered " +
                          std::to_string(static_cast<std::int64_t>(partition)) +
                          ", and there are " + std::to_string(partitions) +
                          " subtasks behind it, from 0 on");
}

}  // namespace hummer
