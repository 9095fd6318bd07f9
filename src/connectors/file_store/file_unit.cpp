#include "connectors/file_store/file_unit.hpp"

#include <hummer/detail/connector_context.hpp>

#include "connectors/file/file_source.hpp"
#include "platform/platform.hpp"

namespace hummer {

Status check(const FollowOptions& options) {
  const auto refuse = [](const std::string& what) -> Status {
    return {ErrorCode::invalid_configuration, "follow_files: " + what};
  };
  if (options.discovery_interval_ms < 1) return refuse("discovery_interval_ms must be 1 or more");
  if (options.settle_ms < 0) return refuse("settle_ms must not be negative");
  if (options.remembered_files < 10) return refuse("remembered_files must be 10 or more");
  if (options.file.map_files) return refuse("map_files is for from_file");
  if (options.end_marker.find('/') != std::string::npos) {
    return refuse("end_marker is a name in the directory, without a '/'");
  }
  if (options.store == nullptr) return refuse("store must not be null");
  return check(options.file);
}

void say_left_out(OperatorContext& context, const std::string& what) {
  (void)connector_context(context).platform().write_standard(
      2, "hummer: " + context.name() + " leaves out a file: " + what + "\n");
}

}  // namespace hummer
