#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/commands/sources.hpp"
#include "cli/commands/tail.hpp"
#include "cli/hummer_program.hpp"
#include "job_library/dynamic_job_libraries.hpp"

#ifdef HUMMER_WITH_BATCH
#include <hummer/batch/command.hpp>
#endif

#ifdef HUMMER_WITH_FORMATS
#include <hummer/formats/infer.hpp>
#include <hummer/formats/look.hpp>

#include "cli/small_file.hpp"
#include "connectors/file/byte_input.hpp"
#include "connectors/file/file_listing.hpp"
#include "platform/json_look.hpp"
#include "platform/plugins.hpp"
#include "platform/standard_input.hpp"
#endif

namespace hummer {
namespace {

#ifdef HUMMER_WITH_FORMATS
constexpr std::size_t sample_bytes = 4 << 20;

Result<const JsonLookPlugin*> load_json_look() {
  Result<const JsonLookPlugin*> look =
      load_plugin<JsonLookPlugin>("json", "what looks at JSON lines");
  if (!look.ok() || *look != nullptr) return look;
  return Status(ErrorCode::invalid_configuration,
                "the library libhummer_json.so does not look at JSON lines");
}

struct Sample {
  std::string text;
  bool whole = false;
};

Result<Sample> sample_of_standard_input() {
  Sample sample{.text = std::string(sample_bytes, ' ')};
  std::size_t size = 0;
  while (size < sample_bytes && !sample.whole) {
    const Result<std::size_t> got =
        read_standard_input({sample.text.data() + size, sample_bytes - size});
    if (!got.ok()) return got.status();
    size += *got;
    sample.whole = *got == 0;
  }
  sample.text.resize(size);
  return sample;
}

// What a file begins with, decompressed.
Result<Sample> sample_of(Files& files, const std::string& path) {
  if (path == "-") return sample_of_standard_input();
  auto opened = files.open_for_reading(path);
  if (!opened.ok()) return opened.status();
  const std::shared_ptr<ReadableFile> file = std::move(*opened);
  const Result<CompressionFormat> format = compression_of(*file, {});
  if (!format.ok()) return format.status();
  const auto input = *format == CompressionFormat::none
                         ? make_plain_input(file, 0, file->size_bytes())
                         : make_decompressed_input(file, *format, file->size_bytes());
  Sample sample{.text = std::string(sample_bytes, ' ')};
  const Result<std::size_t> size = input->read(sample.text);
  if (!size.ok()) return size.status();
  sample.whole = *size < sample_bytes;
  sample.text.resize(*size);
  return sample;
}

// The struct of a message, by its descriptor; `path`: of a file of messages, or empty.
int infer_by_descriptor(const Invocation& invocation, const std::string& descriptor_file,
                        const std::string& message, const std::string& record,
                        const std::string& path) {
  Platform& platform = invocation.platform;
  const auto descriptors =
      read_small_file(platform.files(), descriptor_file, most_descriptor_bytes);
  if (!descriptors.ok()) return report(platform, descriptors.status());
  const auto found = formats::infer_protobuf(*descriptors, message, record, descriptor_file, path);
  if (!found.ok())
    return report(platform, found.status().with_context("'" + descriptor_file + "'"));
  (void)platform.write_standard(1, *found);
  return 0;
}

int run_infer(const Invocation& invocation) {
  CommandLine line(
      "Prints the C++ struct that fits the first 4 MiB of a file of CSV or JSON lines, the schema "
      "of a container file of Avro, or the descriptor of a message of Protobuf, and the call that "
      "reads it.");
  std::string path;
  std::string record = "Record";
  std::string descriptor_file;
  std::string message;
  line.optional_argument(
      "FILE", path,
      "JSON lines, Avro, or CSV with a header or without, separated by , ; TAB or |; may be "
      "compressed; - for standard input, such as of hummer tail. With --descriptor, a file of such "
      "messages, for the call alone");
  line.option("--name", record, "of the struct [Record]");
  line.option("--descriptor", descriptor_file,
              "of Protobuf: what protoc --include_imports --descriptor_set_out has made");
  line.option("--message", message, "the full name of a message in it");
  line.footer("Exit code: 0 success, 1 failure, 2 wrong usage.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  if (!descriptor_file.empty()) {
    return infer_by_descriptor(invocation, descriptor_file, message, record, path);
  }
  if (path.empty() || !message.empty()) {
    (void)platform.write_standard(
        2, message.empty() ? "hummer infer: name a FILE, or a --descriptor and a --message\n"
                           : "hummer infer: --message is one of a --descriptor\n");
    return 2;
  }
  const Result<Sample> sample = sample_of(platform.files(), path);
  if (!sample.ok()) return report(platform, sample.status());
  const auto fail = [&](const Status& status) {
    return report(platform, status.with_context("'" + path + "'"));
  };
  if (formats::is_avro(sample->text)) {
    const auto found = formats::infer_avro(sample->text, record, path);
    if (!found.ok()) return fail(found.status());
    (void)platform.write_standard(1, *found);
    return 0;
  }
  const std::size_t first = sample->text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && sample->text[first] == '[') {
    return fail({ErrorCode::invalid_argument,
                 "this is one JSON document, and no JSON lines: `jq -c '.[]'` makes a line of each "
                 "of its elements"});
  }
  if (first != std::string::npos && sample->text[first] == '{') {
    const auto look = load_json_look();
    if (!look.ok()) return fail(look.status());
    const auto found = (*look)->infer(sample->text, sample->whole, record, path);
    if (!found.ok()) return fail(found.status());
    (void)platform.write_standard(1, *found);
    return 0;
  }
  const auto found = formats::infer_csv(sample->text, sample->whole);
  if (!found.ok()) return fail(found.status());
  (void)platform.write_standard(1, formats::to_cpp(*found, record, path));
  return 0;
}

class CsvRowReader final : public RowReader {
 public:
  Status begin(std::string_view first_bytes) override {
    Result<formats::CsvLook> look = formats::CsvLook::at(first_bytes);
    if (!look.ok()) return look.status();
    look_ = std::move(*look);
    return {};
  }
  const std::vector<std::string>& columns() const override { return look_.columns(); }
  bool has_header() const override { return look_.has_header(); }
  Result<std::vector<std::string>> cells(std::string_view line) const override {
    return look_.cells(line);
  }

 private:
  formats::CsvLook look_;
};

class JsonRowReader final : public RowReader {
 public:
  Status begin(std::string_view) override { return look_.status(); }
  const std::vector<std::string>& columns() const override { return columns_; }
  bool has_header() const override { return false; }
  Result<std::vector<std::string>> cells(std::string_view line) const override {
    if (!look_.ok()) return look_.status();
    std::string why = (*look_)->why_no_object(line);
    if (why.empty()) return std::vector<std::string>();
    return Status(ErrorCode::invalid_argument, std::move(why));
  }

 private:
  const std::vector<std::string> columns_ = {};
  const Result<const JsonLookPlugin*> look_ = load_json_look();
};

class LookReader final : public RecordReader {
 public:
  explicit LookReader(std::unique_ptr<formats::RecordLook> look) : look_(std::move(look)) {}

  std::string_view unit_name() const override { return look_->unit_name(); }
  Result<std::size_t> begin(std::string_view text) override { return look_->begin(text); }
  Result<Unit> unit(std::string_view text) const override {
    const Result<formats::RecordLook::Unit> unit = look_->unit(text);
    if (!unit.ok()) return unit.status();
    return Unit{unit->size, unit->records};
  }
  Status records(std::string_view unit, const Listener& each) override {
    return look_->records(unit, each);
  }

 private:
  static_assert(RecordReader::unknown == formats::RecordLook::unknown);
  const std::unique_ptr<formats::RecordLook> look_;
};

Result<std::unique_ptr<RecordReader>> make_avro_reader(const RecordSchema&) {
  return std::unique_ptr<RecordReader>(std::make_unique<LookReader>(formats::look_at_avro()));
}

Result<std::unique_ptr<RecordReader>> make_protobuf_reader(const RecordSchema& schema) {
  auto look = formats::look_at_protobuf(schema.descriptors, schema.message);
  if (!look.ok()) return look.status();
  return std::unique_ptr<RecordReader>(std::make_unique<LookReader>(std::move(*look)));
}

constexpr std::array record_formats = {
    RecordFormat{.name = "avro", .make = &make_avro_reader, .is_begun_by = &formats::is_avro},
    RecordFormat{.name = "protobuf", .has_schema = true, .make = &make_protobuf_reader},
};

template <typename Reader>
std::unique_ptr<RowReader> make_row_reader() {
  return std::make_unique<Reader>();
}

constexpr std::array row_formats = {
    RowFormat{"csv", &make_row_reader<CsvRowReader>},
    RowFormat{"json", &make_row_reader<JsonRowReader>},
};
#else
constexpr std::array<RowFormat, 0> row_formats;
constexpr std::array<RecordFormat, 0> record_formats;
#endif

#ifdef HUMMER_WITH_FORMATS
constexpr bool with_formats = true;
#else
constexpr bool with_formats = false;
#endif
#ifdef HUMMER_WITH_JSON
constexpr bool with_json = true;
#else
constexpr bool with_json = false;
#endif
#ifdef HUMMER_WITH_PATTERNS
constexpr bool with_patterns = true;
#else
constexpr bool with_patterns = false;
#endif
#ifdef HUMMER_WITH_REGISTRY
constexpr bool with_registry = true;
#else
constexpr bool with_registry = false;
#endif

constexpr std::string_view of_a_build = "a build with -DHUMMER_FORMATS=ON";
constexpr std::array format_kinds = {
    SourceKind{"format", "csv", "from_csv<Trade>(env, path)", "hummer tail --format csv",
               with_formats, of_a_build},
    SourceKind{"format", "json", "from_json<Trade>(env, path)", "hummer tail --format json",
               with_json, "a build where libsimdjson-dev is installed"},
    SourceKind{"format", "pattern", "from_pattern<Hit>(env, path, pattern(\"(?P<host>\\S+) …\"))",
               "lines by a regular expression; combined_log(), syslog_rfc5424() …", with_patterns,
               "a build where libre2-dev is installed"},
    SourceKind{"format", "raw", "from_raw<Tick>(env, path)", "bytes with lengths, or of one size",
               with_formats, of_a_build},
    SourceKind{"format", "avro", "from_avro<Trade>(env, path)",
               "container files and messages; hummer tail", with_formats, of_a_build},
    SourceKind{"format", "protobuf", "from_protobuf<Trade>(env, path)",
               "messages with their lengths ahead; hummer tail --format protobuf", with_formats,
               of_a_build},
    SourceKind{"format", "registry", "decode<Trade>(messages, avro(registry({.url = …})))",
               "messages that name their schemas by number", with_registry,
               "a build where libcurl4-openssl-dev is installed"},
};

int run_tail_here(const Invocation& invocation) {
  return run_tail(invocation, {.rows = row_formats, .records = record_formats});
}
int run_sources_here(const Invocation& invocation) { return run_sources(invocation, format_kinds); }

constexpr std::array further_commands = {
#ifdef HUMMER_WITH_FORMATS
    Command{"infer", "FILE [--name RECORD]",
            "prints the C++ struct that fits CSV, JSON lines, Avro or Protobuf", &run_infer},
#endif
#ifdef HUMMER_WITH_BATCH
    Command{"batch", "wordcount|terasort|run|...", "runs a MapReduce job in this process",
            &run_batch},
#endif
    Command{"tail", "SOURCE [--lines N]...",
            "prints the last lines or records of a source, and what comes", &run_tail_here},
    Command{"sources", "", "kinds of sources and formats, and what is missing", &run_sources_here},
};

}  // namespace
}  // namespace hummer

int main(int argc, char** argv) {
  const std::unique_ptr<hummer::Platform> platform = hummer::make_linux_platform();
  hummer::DynamicJobLibraries libraries;
  return hummer::run_hummer(argc, argv, *platform, libraries, hummer::further_commands);
}
