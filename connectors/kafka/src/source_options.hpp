// Which of librdkafka's options the source sets.
#pragma once

#include "client.hpp"

namespace hummer::kafka {

// Where the author has not said otherwise. What is fetched ahead counts by partition: librdkafka's
// own 64 MB for each would be much.
inline Options source_options() { return {{"queued.max.messages.kbytes", "8192"}}; }

// Offsets are the job's state, and nothing but it moves them.
inline Options fixed_source_options(const SourceSettings& settings) {
  return {{"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "error"},
          {"enable.partition.eof", settings.end.has_value() ? "true" : "false"},
          // librdkafka's consumers all have one; without a name nothing is committed to it.
          {"group.id", settings.group.empty() ? "hummer" : settings.group}};
}

}  // namespace hummer::kafka
