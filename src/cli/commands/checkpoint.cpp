#include "cli/commands/checkpoint.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "checkpoint/checkpoint_inspection.hpp"
#include "cli/command_line.hpp"
#include "cli/commands/checkpoint_export.hpp"
#include "cli/table.hpp"

namespace hummer {
namespace {

bool incomplete(const CheckpointInspection& one) {
  return !one.metadata && one.status.code() == ErrorCode::not_found;
}

std::string verdict(const CheckpointInspection& one, bool read_files) {
  if (incomplete(one)) return "incomplete";
  if (!one.status.ok()) return "corrupt";
  return read_files ? "whole" : "complete";
}

std::string message_of(const CheckpointInspection& one) {
  return one.status.ok() || incomplete(one) ? "" : one.status.message();
}

std::string kind_of(const CheckpointMetadata& metadata) {
  return metadata.savepoint ? "savepoint" : "checkpoint";
}

std::string hexadecimal(std::uint64_t number) { return fmt::format("{:016x}", number); }

void write_head(JsonWriter& json, const CheckpointInspection& one, bool read_files) {
  json.field("path", one.path);
  json.field("verdict", verdict(one, read_files));
  json.field("message", message_of(one));
  if (!one.metadata) return;
  json.field("checkpoint", one.metadata->id);
  json.field("kind", kind_of(*one.metadata));
  json.field("job", one.metadata->job);
  json.field("job_name", one.metadata->job_name);
  json.field("fingerprint", hexadecimal(one.metadata->fingerprint));
  json.field("completed_ms", one.metadata->completed_ms);
  json.field("state_bytes", one.metadata->state_bytes());
}

void write_body(JsonWriter& json, const CheckpointInspection& one) {
  json.begin_array("operators");
  for (const InspectedOperator& op : one.operators) {
    json.begin_object();
    json.field("uid", op.from_metadata.uid);
    json.field("name", op.from_metadata.name);
    json.field("vertex", op.from_metadata.vertex);
    json.field("parallelism", op.from_metadata.parallelism);
    json.field("key_groups", op.from_metadata.key_groups);
    json.field("pieces", op.pieces);
    json.field("state_bytes", op.state_bytes);
    json.begin_array("states");
    for (const StateDescription& state : op.states) {
      json.begin_object();
      json.field("name", state.name);
      json.field("type", state.type);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.begin_array("files");
  for (const InspectedFile& file : one.files) {
    json.begin_object();
    json.field("name", file.from_metadata.name);
    json.field("vertex", file.from_metadata.vertex);
    json.field("subtask", file.from_metadata.subtask);
    json.field("bytes", file.from_metadata.bytes);
    json.field("hash", hexadecimal(file.from_metadata.hash));
    json.field("message", file.status.message());
    json.end_object();
  }
  json.end_array();
}

void write_paths(JsonWriter& json, std::string_view name, const std::vector<std::string>& paths) {
  json.begin_array(name);
  for (const std::string& path : paths) json.element(path);
  json.end_array();
}

std::string json_of(const CheckpointInspections& all, bool read_files) {
  JsonWriter json;
  json.begin_object();
  json.begin_array("checkpoints");
  for (const CheckpointInspection& one : all.checkpoints) {
    json.begin_object();
    write_head(json, one, read_files);
    if (read_files) write_body(json, one);
    json.end_object();
  }
  json.end_array();
  write_paths(json, "bases", all.bases);
  write_paths(json, "incomplete", all.incomplete);
  json.end_object();
  return std::move(json).finish();
}

Table list_of(const std::vector<CheckpointInspection>& all, bool read_files) {
  Table table({"checkpoint", "kind", "job", "completed (UTC)", "operators", "files", "bytes",
               "verdict", "path", "message"});
  for (const CheckpointInspection& one : all) {
    if (one.metadata) {
      const CheckpointMetadata& metadata = *one.metadata;
      table.add({std::to_string(metadata.id), kind_of(metadata), metadata.job_name,
                 format_wall_time(metadata.completed_ms), std::to_string(metadata.operators.size()),
                 std::to_string(metadata.files.size()), std::to_string(metadata.state_bytes()),
                 verdict(one, read_files), one.path, message_of(one)});
    } else {
      table.add(
          {"-", "-", "-", "-", "-", "-", "-", verdict(one, read_files), one.path, message_of(one)});
    }
  }
  return table;
}

// Three tables: the checkpoint, its operators with a row per state, its files.
std::string text_of(const CheckpointInspection& one, bool aligned) {
  Table operators(
      {"uid", "name", "vertex", "parallelism", "key groups", "pieces", "bytes", "state", "type"});
  for (const InspectedOperator& op : one.operators) {
    const CheckpointOperator& saved = op.from_metadata;
    std::vector<StateDescription> states = op.states;
    if (states.empty()) states.push_back({"-", "-"});
    for (const StateDescription& state : states) {
      operators.add({saved.uid, saved.name, std::to_string(saved.vertex),
                     std::to_string(saved.parallelism), std::to_string(saved.key_groups),
                     std::to_string(op.pieces), std::to_string(op.state_bytes), state.name,
                     state.type});
    }
  }
  Table files({"file", "vertex", "subtask", "bytes", "hash", "message"});
  for (const InspectedFile& file : one.files) {
    const CheckpointFile& saved = file.from_metadata;
    files.add({saved.name, std::to_string(saved.vertex), std::to_string(saved.subtask),
               std::to_string(saved.bytes), hexadecimal(saved.hash), file.status.message()});
  }
  return list_of({one}, true).text(aligned) + "\n" + operators.text(aligned) + "\n" +
         files.text(aligned);
}

std::string listed(std::string_view what, const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  std::string text = "hummer: ";
  text += what;
  for (const std::string& path : paths) text += (&path == &paths.front() ? ": " : ", ") + path;
  return text + "\n";
}

// What else lies there, so that nobody wonders about it or tidies it up.
std::string others_text(const CheckpointInspections& all) {
  return listed("no checkpoints, but these build on their files", all.bases) +
         listed("not complete, under way or left by a crash", all.incomplete);
}

}  // namespace

int run_checkpoint(const Invocation& invocation) {
  CommandLine line("Looks at checkpoints and savepoints on disk; needs no cluster and no job.");
  line.footer(
      "Exit code: 0 all is whole, 1 something is corrupt, missing or unreadable, 2 wrong usage.");
  std::string action;
  std::string path;
  bool json = false;
  bool tsv = false;
  CheckpointExport wanted;
  line.argument("ACTION", action,
                "ls: the checkpoints of a directory that a job can begin with; inspect: what one "
                "holds; verify: reads every byte of one, or of all in a directory; export: the "
                "keyed state of one as JSON lines, a line per key",
                {"ls", "inspect", "verify", "export"});
  line.argument("PATH", path, "a directory of checkpoints, a checkpoint or a savepoint");
  line.option("--operator", wanted.of_operator, "export: of this operator, by uid or name");
  line.option("--state", wanted.state, "export: this state, of keys that have it");
  line.option("--key", wanted.key, "export: this key, as JSON; a text may be without quotes");
  line.output_options(json, tsv);
  if (const auto code = line.read(invocation, invocation.words)) return *code;

  Platform& platform = invocation.platform;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (action == "export") return export_checkpoint(platform, path, wanted);
  const bool read_files = action != "ls";
  CheckpointInspections found;
  if (action == "inspect") {
    found.checkpoints.push_back(inspect_checkpoint(platform.files(), path, read_files));
  } else {
    auto all = inspect_checkpoints(platform.files(), path, read_files);
    if (!all.ok()) return report(platform, all.status());
    found = std::move(*all);
  }
  const bool aligned = !tsv && platform.is_terminal(1);
  if (json) {
    (void)platform.write_standard(1, json_of(found, read_files));
  } else if (action == "inspect" && found.checkpoints.front().metadata) {
    (void)platform.write_standard(1, text_of(found.checkpoints.front(), aligned));
  } else if (action != "inspect") {
    (void)platform.write_standard(1, list_of(found.checkpoints, read_files).text(aligned));
    (void)platform.write_standard(2, others_text(found));
  }
  int code = 0;
  for (const CheckpointInspection& one : found.checkpoints) {
    if (!one.status.ok()) code = report(platform, one.status);
  }
  if (code == 0 && found.checkpoints.empty() && action == "verify") {
    return report(platform, {ErrorCode::not_found, "no checkpoint in '" + path + "'"});
  }
  return code;
}

}  // namespace hummer
