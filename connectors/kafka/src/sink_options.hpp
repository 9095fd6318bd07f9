// Which of librdkafka's options the sinks set.
#pragma once

#include "client.hpp"

namespace hummer::kafka {

// Where the author has not said otherwise. Java's clients hash keys so, and find the same
// partition. An epoch is written in one transaction, which may be large. All records are reported,
// not only those that did not arrive: whoever polls frees them, which is otherwise the work of
// librdkafka's thread of the broker, the busiest of all.
inline Options sink_options(const SinkSettings& settings) {
  Options options{{"partitioner", "murmur2_random"},
                  {"delivery.report.only.error", "false"},
                  {"linger.ms", "5"},
                  {"queue.buffering.max.messages", "500000"}};
  // One that is open over an epoch has to outlive a job that is down: the most that brokers allow
  // unless they are set otherwise (transaction.max.timeout.ms).
  if (settings.guarantee == Guarantee::exactly_once) options["transaction.timeout.ms"] = "300000";
  if (settings.guarantee == Guarantee::exactly_once_open) {
    options["transaction.timeout.ms"] = "900000";
  }
  return options;
}

// Without idempotence a batch that is sent again may come twice, or behind its successor.
inline Options fixed_sink_options(const SinkSettings& settings) {
  Options options{{"enable.idempotence", "true"}};
  if (settings.guarantee != Guarantee::at_least_once) {
    options["transactional.id"] = settings.transactional_id;
  }
  return options;
}

}  // namespace hummer::kafka
