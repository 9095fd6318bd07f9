// Which topics and partitions there are, and where they begin and end: questions to the brokers
// that wait for the answer. For the opening of a source, and for a thread of its own later.
#pragma once

#include <string>
#include <vector>

#include "client.hpp"

namespace hummer::kafka {

// Of the topics that are named, or whose names match the pattern, in order. A topic that is named
// and not there is an error; one that has just been made may not be known at once, so it is asked
// for a few times.
Result<std::vector<TopicPartition>> find_partitions(const Client& client,
                                                    const SourceSettings& settings, int timeout_ms);

// What `offsets` is in each of the partitions, in their order. The beginning, which needs no
// question, stays RD_KAFKA_OFFSET_BEGINNING; unset_offset: `offsets` does not say.
inline constexpr std::int64_t unset_offset = -1;
Result<std::vector<std::int64_t>> find_offsets(const Client& client,
                                               const std::vector<TopicPartition>& partitions,
                                               const Offsets& offsets, int timeout_ms);

PartitionList list_of(const std::vector<TopicPartition>& partitions);

}  // namespace hummer::kafka
