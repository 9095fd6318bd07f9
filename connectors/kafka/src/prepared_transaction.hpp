// PreparedTransaction: one that waits for its checkpoint, as the state of a sink names it; and what
// becomes of it.
//
//   Result<Outcome> outcome = conclude(coordinator, settings, prepared);
//
// It is committed where it is still open. That it has been committed already is known from the
// coordinator, which knows the last transaction of an id, or from the note that was written in it
// (progress.hpp), which stays. What is neither open nor noted is lost: it was aborted, as a rule
// since its time was up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/kafka/settings.hpp>
#include <hummer/status.hpp>

#include "coordinator.hpp"
#include "progress.hpp"

namespace hummer::kafka {

struct PreparedTransaction {
  EpochName name;
  std::uint32_t writer = 0;  // the subtask
  std::uint32_t number = 0;  // of its transactional ids
  ProducerIdentity producer;
  // By the coordinator's clock: the next transaction of the same producer has another one.
  std::int64_t start_ms = 0;
  std::string partitions;  // for whoever has to be told that it is lost

  friend bool operator==(const PreparedTransaction&, const PreparedTransaction&) = default;
};

enum class Outcome : std::uint8_t { committed, lost };

std::string transactional_id(const SinkSettings& settings, std::uint32_t writer,
                             std::uint32_t number);
int transaction_timeout_ms(const SinkSettings& settings);

// Waits for the brokers. Not of two transactions of one subtask out of their order: the newest note
// stands for all before it.
Result<Outcome> conclude(Coordinator& coordinator, const SinkSettings& settings,
                         const PreparedTransaction& prepared);
// What was lost, why, and how to go on.
Status loss_of(const SinkSettings& settings, const PreparedTransaction& prepared);

// "topic 'a': 0, 1; topic 'b': 0", cut short where there are many; but for one topic.
std::string name_partitions(const DescribedTransaction& described, const std::string& but_for);

struct OpenSinkState {
  std::string transactional_id;  // of the settings: without it, ids are those of another sink
  std::uint32_t writer = 0;
  std::uint32_t ids = 0;  // how many transactional ids the subtask had
  std::vector<PreparedTransaction> prepared;
};

void write_state(ByteWriter& out, const OpenSinkState& state);
Status read_state(ByteReader& in, OpenSinkState& state);

}  // namespace hummer::kafka
