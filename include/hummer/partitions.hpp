// Partitions: the directories into which write_files deals records, as Hive names them.
//
//   write_files(clicks, "/out", {}, hourly(&Click::time_ms));     // dt=2026-11-26/hour=11
//   write_files(clicks, "/out", {}, daily(&Click::time_ms));      // dt=2026-11-26
//   write_files(clicks, "/out", {}, [](const Click& click) {      // a function of your own
//     return partition_path({{"country", click.country}, {"site", click.site}});
//   });
//
// A function is called per record and answers a path in the directory, or a Partition, which also
// says from which event time on no record of it is expected. partition_path escapes what a value
// holds as Hive does ('/' becomes %2F); a path that the function makes itself is refused where it
// leaves the directory ("..") or would be hidden (names that begin with '.' or '_').
//
// Days and hours are those of UTC. Thread: the sink's. Cost: hourly and daily make a text once per
// change; a function that answers std::string usually allocates.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <hummer/detail/calendar_partitions.hpp>

namespace hummer {

struct PartitionField {
  std::string_view name;
  std::string_view value;  // empty: as Hive writes what is missing
};
// "name=value/name=value".
std::string partition_path(std::initializer_list<PartitionField> fields);

// time_of: member pointer or function(const T&) → ms since 1970.
template <typename TimeOf>
auto daily(TimeOf time_of) {
  return detail::CalendarPartition<TimeOf>(time_of, 86'400'000);
}
template <typename TimeOf>
auto hourly(TimeOf time_of) {
  return detail::CalendarPartition<TimeOf>(time_of, 3'600'000);
}

}  // namespace hummer
