// Names in the directory of a two-phase file sink, its handles, and the entries of its manifests;
// what they mean: two_phase_file_writer.cpp.
//
// Pure; thread: any. What parse functions do not know is nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hummer {

// What writes to a path that a file sink can't write to.
inline constexpr std::string_view written_to_object_stores =
    "write_file writes to disks, write_files (hummer/files.hpp) to object stores, such as with "
    "{.store = hummer::s3::files()}";

// Of a sink of a run, the same for all its subtasks and attempts.
std::uint64_t sink_id(std::uint64_t run, std::string_view uid);

// ".part-<subtask>-<number>.<id>.<attempt>.pending"
struct HiddenName {
  int subtask = 0;
  std::uint64_t number = 0;
  std::uint64_t id = 0;
  std::uint32_t attempt = 0;
};
std::string hidden_name(const HiddenName& name);
std::optional<HiddenName> parse_hidden(std::string_view name);

// "part-<subtask>-<epoch>-<id>"; id 0: without it, as earlier versions called them.
struct VisibleName {
  int subtask = 0;
  std::uint64_t epoch = 0;
  std::uint64_t id = 0;
};
std::string visible_name(const VisibleName& name);
std::optional<VisibleName> parse_visible(std::string_view name);

// ".sink-<id>-<subtask>", and what all of a sink begin with.
std::string claim_name(std::uint64_t id, int subtask);
std::string claim_prefix(std::uint64_t id);

struct SinkHandle {
  std::string hidden;
  std::string visible;  // empty: nothing was written
  std::string directory;
  HiddenName of;  // parsed `hidden`
};
std::string to_text(const SinkHandle& handle);
// `directory`: of a handle that names none, as those of earlier versions.
std::optional<SinkHandle> parse_handle(const std::string& text, const std::string& directory);

// What a claim begins with, for people, and the entries behind it. Each begins a new line, so that
// one that was cut off by a crash does not spoil the next.
std::string claim_text(const std::string& name, const std::string& uid, std::uint64_t run);
std::string committed_text(std::uint64_t epoch);
// The highest epoch among the whole entries; 0: there is none.
std::uint64_t newest_committed(std::string_view manifest);

}  // namespace hummer
