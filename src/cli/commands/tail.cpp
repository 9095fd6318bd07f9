#include "cli/commands/tail.hpp"

#include <fmt/format.h>
#include <map>
#include <memory>
#include <utility>

#include <hummer/hummer.hpp>

#include "cli/command_line.hpp"
#include "cli/commands/tail_files.hpp"
#include "cli/last_lines.hpp"
#include "cli/record_tail.hpp"
#include "cli/small_file.hpp"
#include "platform/message_source.hpp"
#include "platform/plugins.hpp"
#include "platform/standard_input.hpp"

namespace hummer {
namespace {

constexpr std::string_view socket_scheme = "tcp://";
constexpr std::size_t input_step_bytes = 64 << 10;

// The last lines of what comes, or all of it as it comes.
class ComingLines {
 public:
  explicit ComingLines(Tail& tail) : tail_(tail), last_(tail.lines) {}

  Status begin(std::string_view first_bytes) {
    return tail_.printer.begin(tail_.source, first_bytes, false);
  }
  void line(std::string_view text) {
    const bool is_first = !std::exchange(any_, true);
    if (tail_.follow) {
      tail_.printer.line(text, is_first);
      tail_.printer.flush();
      return;
    }
    last_.add(text);
    last_.add("\n");
  }
  void finish() {
    bool is_first = last_.whole();
    for (const std::string& line : last_.lines()) {
      tail_.printer.line(line, std::exchange(is_first, false));
    }
  }

 private:
  Tail& tail_;
  LastLines last_;
  bool any_ = false;
};

// Standard input, of which the first bytes may be looked at ahead.
class StandardInput {
 public:
  // At least `least` bytes, or a line, where there are so many.
  Result<std::string_view> look(std::size_t least) {
    while (ahead_.size() < least && ahead_.find('\n') == std::string::npos) {
      const Result<std::size_t> got = read_standard_input(space_);
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      ahead_.append(space_, 0, *got);
    }
    return std::string_view(ahead_);
  }
  // What comes next; nothing: it has ended.
  Result<std::string_view> read() {
    if (!ahead_.empty()) {
      taken_ = std::exchange(ahead_, {});
      return std::string_view(taken_);
    }
    const Result<std::size_t> got = read_standard_input(space_);
    if (!got.ok()) return got.status();
    return std::string_view(space_).substr(0, *got);
  }

 private:
  std::string space_ = std::string(input_step_bytes, ' ');
  std::string ahead_;
  std::string taken_;
};

int tail_records_of_input(Tail& tail, StandardInput& input, RecordReader& reader) {
  (void)tail.printer.begin("-", "", false);
  RecordTail records(reader, tail.printer, tail.follow ? 0 : tail.lines);
  Status status;
  while (status.ok() && !tail.printer.closed()) {
    const Result<std::string_view> got = input.read();
    if (!got.ok()) return report(tail.platform, got.status());
    if (got->empty()) break;
    status = records.add(*got);
  }
  if (status.ok()) status = records.finish();
  records.say_kept();
  return status.ok() ? finish_tail(tail) : report_source(tail, "-", status);
}

int tail_lines_of_input(Tail& tail, StandardInput& input) {
  ComingLines lines(tail);
  std::string open;
  bool begun = false;
  while (!tail.printer.closed()) {
    const Result<std::string_view> got = input.read();
    if (!got.ok()) return report(tail.platform, got.status());
    if (got->empty()) break;
    open += *got;
    // A format looks at whole lines.
    if (!begun && open.find('\n') == std::string::npos) continue;
    if (!std::exchange(begun, true)) {
      if (Status status = lines.begin(open); !status.ok()) return report_source(tail, "-", status);
    }
    std::size_t at = 0;
    for (std::size_t end = 0; (end = open.find('\n', at)) != std::string::npos; at = end + 1) {
      lines.line(std::string_view(open).substr(at, end - at));
    }
    open.erase(0, at);
    if (open.size() > LastLines::longest_line_bytes) open.resize(LastLines::longest_line_bytes);
  }
  if (!begun) {
    if (Status status = lines.begin(open); !status.ok()) return report_source(tail, "-", status);
  }
  if (!open.empty()) lines.line(open);
  lines.finish();
  return finish_tail(tail);
}

int tail_standard_input(Tail& tail) {
  StandardInput input;
  const Result<std::string_view> first_bytes =
      input.look(tail.records.may_be_any ? telling_bytes : 0);
  if (!first_bytes.ok()) return report(tail.platform, first_bytes.status());
  const auto reader = tail.records.reader_of(*first_bytes);
  if (!reader.ok()) return report_source(tail, "-", reader.status());
  return *reader == nullptr ? tail_lines_of_input(tail, input)
                            : tail_records_of_input(tail, input, **reader);
}

// By a job, which knows how to read a socket.
int tail_socket(Tail& tail) {
  EnvironmentOptions options;
  options.platform = &tail.platform;
  options.parallelism = 1;
  StreamExecutionEnvironment env(options);
  ComingLines lines(tail);
  Status wrong;
  bool begun = false;
  env.from_socket(tail.source.substr(socket_scheme.size())).for_each([&](std::string_view line) {
    if (!std::exchange(begun, true)) wrong = lines.begin(line);
    if (wrong.ok()) lines.line(line);
  });
  const JobResult result = env.execute("tail");
  if (!result.ok()) return report(tail.platform, result.status);
  if (!wrong.ok()) return report_source(tail, tail.source, wrong);
  lines.finish();
  return finish_tail(tail);
}

// Lines NAME=VALUE; those that are empty or begin with # are none.
Result<std::map<std::string, std::string>> read_client_options(Files& files,
                                                               const std::string& path) {
  std::map<std::string, std::string> options;
  if (path.empty()) return options;
  constexpr std::size_t most_bytes = 1 << 20;
  const Result<std::string> read = read_small_file(files, path, most_bytes);
  if (!read.ok()) return read.status();
  const std::string& text = *read;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status(ErrorCode::invalid_argument,
                    fmt::format("'{}', line {}: write NAME=VALUE", path, number + 1));
    }
    options[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return options;
}

int tail_messages(Tail& tail, const MessageSourcePlugin& plugin, const std::string& options_file) {
  const auto options = read_client_options(tail.platform.files(), options_file);
  if (!options.ok()) return report(tail.platform, options.status());
  Status wrong;
  std::string partition_of_last;
  const MessageListener listener{.message =
                                     [&](const std::string& partition, std::string_view message) {
                                       if (wrong.ok() && partition != partition_of_last) {
                                         wrong = tail.printer.begin(partition, message, false);
                                       }
                                       partition_of_last = partition;
                                       if (wrong.ok()) tail.printer.line(message);
                                       if (tail.follow) tail.printer.flush();
                                     },
                                 .listens = [&] { return wrong.ok() && !tail.printer.closed(); }};
  const Status looked = plugin.look(
      {.address = tail.source, .options = *options, .last = tail.lines, .follow = tail.follow},
      listener);
  if (!looked.ok()) return report(tail.platform, looked.with_context("'" + tail.source + "'"));
  if (!wrong.ok()) return report_source(tail, partition_of_last, wrong);
  return finish_tail(tail);
}

// A scheme that a library has.
int tail_by_library(Tail& tail, const std::string& scheme, const std::string& options_file) {
  const auto messages = load_plugin<MessageSourcePlugin>(scheme);
  if (messages.ok()) {
    return *messages == nullptr ? tail_files(tail) : tail_messages(tail, **messages, options_file);
  }
  if (scheme == "kafka" || scheme == "s3") return report(tail.platform, messages.status());
  return report(tail.platform, {ErrorCode::invalid_argument,
                                fmt::format("'{}': no source of this kind: `hummer sources` lists "
                                            "them",
                                            tail.source)});
}

}  // namespace

int run_tail(const Invocation& invocation, const TailFormats& formats) {
  CommandLine line(
      "Prints the last lines or records of a source: a file (plain, gzip or zstd), a directory, a "
      "pattern, - for standard input, tcp://HOST:PORT, kafka://HOST:PORT/TOPIC, or "
      "s3://BUCKET/PATH. Records of files that are no lines are printed as JSON, each on a line.");
  std::string source;
  std::uint64_t count = 10;
  bool follow = false;
  bool json = false;
  std::string format;
  CommandLine::Choices choices{"lines"};
  for (const RowFormat& each : formats.rows) choices.emplace_back(each.name);
  for (const RecordFormat& each : formats.records) choices.emplace_back(each.name);
  std::string options_file;
  std::string descriptor_file;
  RecordSchema schema;
  line.argument("SOURCE", source, "what `hummer sources` lists");
  line.option("--lines", count, "of each file or partition; records, where it is no lines [10]");
  line.flag("-f,--follow", follow, "go on with what comes, until it is interrupted");
  line.option("--format", format,
              "what the source holds [lines, or avro where a file begins as such]", choices);
  line.option("--descriptor", descriptor_file,
              "of --format protobuf: what protoc --include_imports --descriptor_set_out has made");
  line.option("--message", schema.message, "of --format protobuf: the full name of a message");
  line.option("--client-options", options_file,
              "a file of lines NAME=VALUE: options of the client of a topic, such as TLS and "
              "passwords");
  line.flag("--json", json, "an object per line, for scripts");
  line.footer(
      "Exit code: 0 success, 1 failure or lines that are none of the format, 2 wrong usage.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  const auto wrong_usage = [&](const std::string& what) {
    (void)platform.write_standard(2, "hummer tail: " + what + "\n");
    return 2;
  };
  if (count == 0) return wrong_usage("--lines must be 1 or more");
  std::unique_ptr<RowReader> reader;
  for (const RowFormat& each : formats.rows) {
    if (each.name == format) reader = each.make();
  }
  TailPrinter printer(platform, json, reader.get());
  Tail tail{platform, source, count, follow, printer};
  tail.records = {.formats = formats.records, .may_be_any = format.empty()};
  for (const RecordFormat& each : formats.records) {
    if (each.name == format) tail.records.named = &each;
  }
  const RecordFormat* const named = tail.records.named;
  if (named != nullptr && named->has_schema) {
    if (descriptor_file.empty()) {
      return wrong_usage(
          fmt::format("--format {} needs --descriptor FILE and --message NAME", format));
    }
    auto descriptors = read_small_file(platform.files(), descriptor_file, most_descriptor_bytes);
    if (!descriptors.ok()) return report(platform, descriptors.status());
    schema.descriptors = std::move(*descriptors);
    tail.records.schema = std::move(schema);
    // What is wrong with it is wrong of every file.
    if (const auto made = tail.records.reader_of({}); !made.ok()) {
      return report(platform, made.status().with_context("'" + descriptor_file + "'"));
    }
  } else if (!descriptor_file.empty() || !schema.message.empty()) {
    return wrong_usage("--descriptor and --message say how --format protobuf is read");
  }
  if (source == "-") return tail_standard_input(tail);
  const std::string scheme = scheme_of(source);
  if (named != nullptr && (scheme == "tcp" || scheme == "kafka")) {
    return wrong_usage(fmt::format(
        "--format {} is of files and standard input; leave it out for {}", format, source));
  }
  if (source.starts_with(socket_scheme)) return tail_socket(tail);
  return scheme.empty() ? tail_files(tail) : tail_by_library(tail, scheme, options_file);
}

}  // namespace hummer
