// Names in the directory of a rolling sink, and what its notes say.
//
//   part-<subtask>-<epoch>-<number>-<attempt>-<sink><suffix>   a file; the epoch is that of the
//                                                              last barrier before its first
//                                                              record
//   .hummer/sink-<sink>-<subtask>                              the note of a subtask
//
// A sink is known by its run and uid (sink_id in src/connectors/file/sink_names.hpp), so that no
// two of them meet in a name.
//
// Pure; thread: any. Whatever bytes a note has, parsing it takes no more memory than they do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <hummer/batch.hpp>
#include <hummer/status.hpp>

namespace hummer {

struct PartName {
  int subtask = 0;
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;  // in its attempt
  std::uint32_t attempt = 0;
  std::uint64_t sink = 0;
};
std::string to_text(const PartName& name, std::string_view suffix);
// Of the last part of a path; nullopt: no part of a rolling sink.
std::optional<PartName> parse_part(std::string_view name);

struct NoteName {
  std::uint64_t sink = 0;
  int subtask = 0;
};
std::string to_text(const NoteName& name);
std::optional<NoteName> parse_note_name(std::string_view name);

// What a subtask has made visible.
struct SinkNote {
  std::uint64_t committed = 0;  // up to this epoch, with its finished parts; 0: nothing
  std::uint64_t resumed = 0;    // the epoch whose open parts were made visible behind a restart
  Timestamp watermark = no_timestamp;
  std::map<std::string, Timestamp> partitions;  // not marked as complete; when they end
};
// `about`: for people.
std::string to_text(const SinkNote& note, std::string_view about);
// Lines that are none of these are passed over.
SinkNote parse_note(std::string_view text);

// Whether this may be a directory in that of the sink; invalid_argument says why not.
Status check_partition_path(std::string_view path);

}  // namespace hummer
