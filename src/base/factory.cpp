#include <hummer/detail/operators/factory.hpp>

namespace hummer {

std::shared_ptr<const OperatorFactory> share(std::unique_ptr<const OperatorFactory> factory) {
  return factory;
}
std::shared_ptr<const PartitionerFactory> share(std::unique_ptr<const PartitionerFactory> factory) {
  return factory;
}

}  // namespace hummer
