// What stands at the begin of a sink's state: a version, which says by what guarantee it was
// written, too; and, but for open transactions, who has written in transactions, and how many
// epochs follow.
#pragma once

#include <cstdint>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/status.hpp>

namespace hummer::kafka {

struct SinkStateHead {
  // Numbers of the subtasks as which transactions may have been begun: whoever gets this state
  // fences them.
  std::vector<std::uint32_t> writers;
  std::uint32_t epochs = 0;
};

inline constexpr std::uint8_t sink_state_version = 1;
inline constexpr std::uint8_t open_sink_state_version = 2;

inline void write_head(ByteWriter& out, const SinkStateHead& head) {
  out.put_value(sink_state_version);
  out.put_value(static_cast<std::uint32_t>(head.writers.size()));
  for (const std::uint32_t writer : head.writers) out.put_value(writer);
  out.put_value(head.epochs);
}

inline Status undecodable_sink_state() {
  return {ErrorCode::corrupt_record, "the state of a Kafka sink cannot be decoded"};
}

inline Status state_of_another_guarantee() {
  return {ErrorCode::invalid_configuration,
          "the state of a Kafka sink is that of another guarantee, which alone can write what it "
          "holds: exactly_once_open and the other two do not read each other's. Give the sink the "
          "guarantee that it had, or another uid, and restore with --allow-dropped-state"};
}

inline Status read_head(ByteReader& in, SinkStateHead& head) {
  std::uint8_t version = 0;
  std::uint32_t writers = 0;
  bool valid = in.get_value(version);
  if (valid && version == open_sink_state_version) return state_of_another_guarantee();
  valid = valid && version == sink_state_version && in.get_value(writers);
  for (std::uint32_t i = 0; valid && i < writers; ++i) {
    std::uint32_t writer = 0;
    valid = in.get_value(writer);
    head.writers.push_back(writer);
  }
  return valid && in.get_value(head.epochs) ? Status() : undecodable_sink_state();
}

}  // namespace hummer::kafka
