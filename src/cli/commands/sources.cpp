#include "cli/commands/sources.hpp"

#include <utility>
#include <vector>

#include "base/json_writer.hpp"
#include "cli/command_line.hpp"
#include "cli/table.hpp"
#include "connectors/file/gzip_decompressor.hpp"
#include "platform/message_source.hpp"
#include "platform/object_store.hpp"
#include "platform/plugins.hpp"

namespace hummer {
namespace {

constexpr SourceKind engine_sources[] = {
    {"source", "file", "logs/may.txt", "from_file; hummer tail"},
    {"source", "directory", "logs/", "all its files but those that begin with . or _"},
    {"source", "pattern", "'logs/*.gz'", "as of a shell"},
    {"source", "files that come", "logs/", "follow_files"},
    {"source", "compressed", "logs/may.txt.zst", "gzip and zstd, found by their first bytes"},
    {"source", "standard input", "-", "hummer tail alone"},
    {"source", "socket", "tcp://127.0.0.1:9000", "from_socket; lines until the peer closes"},
    {"source", "collection", "env.from_collection(values)", "of the program itself"},
    {"source", "generator", "env.generate(function, options)", "of the program itself"},
};
// Of packages, whose libraries the program looks for.
constexpr SourceKind kafka{"source",
                           "kafka",
                           "kafka://localhost:9092/topic",
                           "kafka::from_topics in jobs that link hummer::kafka; hummer tail",
                           false,
                           "the package hummer-kafka"};
constexpr SourceKind s3{"source",
                        "s3",
                        "s3://bucket/in/*.csv",
                        "from_file; follow_files in jobs that link hummer::s3; hummer tail",
                        false,
                        "the package hummer-s3"};

SourceKind quick_gzip() {
  const bool here = make_isal_decompressor("") != nullptr;
  return {"source", "gzip by ISA-L",       "logs/may.txt.gz", "twice as fast as by zlib",
          here,     "the package libisal2"};
}

template <typename Plugin>
bool is_here(const std::string& scheme) {
  const Result<const Plugin*> plugin = load_plugin<Plugin>(scheme);
  return plugin.ok() && *plugin != nullptr;
}

}  // namespace

int run_sources(const Invocation& invocation, std::span<const SourceKind> formats) {
  CommandLine line(
      "Lists the kinds of sources and formats of this build, with an example of each, and those "
      "that it lacks.");
  bool json = false;
  bool tsv = false;
  line.output_options(json, tsv);
  line.footer("Exit code: 0 success, 2 wrong usage.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  std::vector<SourceKind> kinds(std::begin(engine_sources), std::end(engine_sources));
  kinds.push_back(quick_gzip());
  kinds.push_back(kafka);
  kinds.back().here = is_here<MessageSourcePlugin>("kafka");
  kinds.push_back(s3);
  kinds.back().here = is_here<ObjectStorePlugin>("s3");
  kinds.insert(kinds.end(), formats.begin(), formats.end());
  Platform& platform = invocation.platform;
  if (json) {
    JsonWriter writer;
    writer.begin_object();
    writer.begin_array("kinds");
    for (const SourceKind& each : kinds) {
      writer.begin_object();
      writer.field("kind", each.kind);
      writer.field("name", each.name);
      writer.field("example", each.example);
      writer.field("note", each.note);
      writer.field("here", each.here);
      if (!each.here) writer.field("install", each.install);
      writer.end_object();
    }
    writer.end_array();
    writer.end_object();
    (void)platform.write_standard(1, std::move(writer).finish());
    return 0;
  }
  Table table({"kind", "name", "example", "here", "remark"});
  for (const SourceKind& each : kinds) {
    std::string remark(each.note);
    if (!each.here) remark += "; it needs " + std::string(each.install);
    table.add({std::string(each.kind), std::string(each.name), std::string(each.example),
               each.here ? "yes" : "no", remark});
  }
  (void)platform.write_standard(1, table.text(!tsv && platform.is_terminal(1)));
  return 0;
}

}  // namespace hummer
