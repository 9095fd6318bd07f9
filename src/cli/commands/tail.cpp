#include "cli/commands/tail.hpp"

#include <fmt/format.h>
#include <map>
#include <memory>
#include <utility>

#include <hummer/hummer.hpp>

#include "cli/command_line.hpp"
#include "cli/last_lines.hpp"
#include "cli/tail_printer.hpp"
#include "platform/message_source.hpp"
#include "platform/plugins.hpp"
#include "platform/standard_input.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds tail_look_interval_ns = milliseconds(250);
constexpr std::string_view socket_scheme = "tcp://";
constexpr std::size_t tail_step_bytes = 64 << 10;

struct Tail {
  Platform& platform;
  std::string source;
  std::uint64_t lines = 10;
  bool follow = false;
  TailPrinter& printer;
};

int finish_tail(Tail& tail) {
  tail.printer.flush();
  return tail.printer.bad_lines() == 0 ? 0 : 1;
}

int report_begin(Tail& tail, const std::string& source, const Status& status) {
  return report(tail.platform, status.with_context("'" + source + "'"));
}

// What is behind the place that a file was looked at to.
class FollowedFile {
 public:
  explicit FollowedFile(std::uint64_t seen) : seen_(seen) {}

  Status look(Tail& tail, const std::string& path, bool named) {
    auto file = tail.platform.files().open_for_reading(path);
    if (!file.ok()) return {};  // gone: as one that does not grow
    if ((*file)->size_bytes() < seen_) {
      (void)tail.platform.write_standard(2, fmt::format("hummer tail: '{}' was cut off\n", path));
      seen_ = 0;
      open_.clear();
    }
    std::string space(tail_step_bytes, ' ');
    bool begun = false;
    while (seen_ < (*file)->size_bytes() && !tail.printer.closed()) {
      const Result<std::size_t> got = (*file)->read_at(seen_, space);
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      if (!std::exchange(begun, true)) {
        HUMMER_TRY(tail.printer.begin(path, seen_ == 0 ? space.substr(0, *got) : "", named));
      }
      bool is_first = seen_ == 0;
      seen_ += *got;
      open_.append(space, 0, *got);
      std::size_t at = 0;
      for (std::size_t end = 0; (end = open_.find('\n', at)) != std::string::npos; at = end + 1) {
        tail.printer.line(std::string_view(open_).substr(at, end - at),
                          std::exchange(is_first, false));
      }
      open_.erase(0, at);
      if (open_.size() > LastLines::longest_line_bytes) open_.resize(LastLines::longest_line_bytes);
    }
    tail.printer.flush();
    return {};
  }

 private:
  std::uint64_t seen_;
  std::string open_;
};

int follow_files(Tail& tail, std::map<std::string, FollowedFile>& followed) {
  while (!tail.printer.closed()) {
    (void)tail.platform.run_until([] { return false; },
                                  tail.platform.now() + tail_look_interval_ns);
    const auto listed = list_input_files(tail.platform.files(), tail.source);
    for (const InputFile& file : listed.ok() ? *listed : std::vector<InputFile>()) {
      FollowedFile& each = followed.try_emplace(file.path, 0).first->second;
      if (Status status = each.look(tail, file.path, followed.size() > 1); !status.ok()) {
        return report_begin(tail, file.path, status);
      }
    }
  }
  return finish_tail(tail);
}

int tail_files(Tail& tail) {
  const auto listed = list_input_files(tail.platform.files(), tail.source);
  if (!listed.ok()) return report(tail.platform, listed.status());
  std::map<std::string, FollowedFile> followed;
  for (const InputFile& file : *listed) {
    const Result<FileTail> last = read_last_lines(tail.platform.files(), file.path, tail.lines);
    if (!last.ok()) return report(tail.platform, last.status());
    if (tail.follow && last->compressed) {
      return report(
          tail.platform,
          {ErrorCode::invalid_argument,
           fmt::format("'{}' is compressed, and does not grow: leave out --follow", file.path)});
    }
    if (Status status = tail.printer.begin(file.path, last->first_bytes, listed->size() > 1);
        !status.ok()) {
      return report_begin(tail, file.path, status);
    }
    bool is_first = last->whole;
    for (const std::string& line : last->lines) {
      tail.printer.line(line, std::exchange(is_first, false));
    }
    tail.printer.flush();
    followed.try_emplace(file.path, last->bytes);
  }
  return tail.follow ? follow_files(tail, followed) : finish_tail(tail);
}

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

int tail_standard_input(Tail& tail) {
  ComingLines lines(tail);
  std::string open;
  std::string space(tail_step_bytes, ' ');
  bool begun = false;
  while (!tail.printer.closed()) {
    const Result<std::size_t> got = read_standard_input(space);
    if (!got.ok()) return report(tail.platform, got.status());
    if (*got == 0) break;
    open.append(space, 0, *got);
    // A format looks at whole lines.
    if (!begun && open.find('\n') == std::string::npos) continue;
    if (!std::exchange(begun, true)) {
      if (Status status = lines.begin(open); !status.ok()) return report_begin(tail, "-", status);
    }
    std::size_t at = 0;
    for (std::size_t end = 0; (end = open.find('\n', at)) != std::string::npos; at = end + 1) {
      lines.line(std::string_view(open).substr(at, end - at));
    }
    open.erase(0, at);
    if (open.size() > LastLines::longest_line_bytes) open.resize(LastLines::longest_line_bytes);
  }
  if (!begun) {
    if (Status status = lines.begin(open); !status.ok()) return report_begin(tail, "-", status);
  }
  if (!open.empty()) lines.line(open);
  lines.finish();
  return finish_tail(tail);
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
  if (!wrong.ok()) return report_begin(tail, tail.source, wrong);
  lines.finish();
  return finish_tail(tail);
}

// Lines NAME=VALUE; those that are empty or begin with # are none.
Result<std::map<std::string, std::string>> read_client_options(Files& files,
                                                               const std::string& path) {
  std::map<std::string, std::string> options;
  if (path.empty()) return options;
  constexpr std::size_t most_bytes = 1 << 20;
  const auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  std::string text(std::min<std::uint64_t>((*file)->size_bytes(), most_bytes), ' ');
  const Result<std::size_t> size = (*file)->read_at(0, text);
  if (!size.ok()) return size.status();
  text.resize(*size);
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
  if (!wrong.ok()) return report_begin(tail, partition_of_last, wrong);
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

int run_tail(const Invocation& invocation, std::span<const RowFormat> formats) {
  CommandLine line(
      "Prints the last lines of a source: a file (plain, gzip or zstd), a directory, a pattern, - "
      "for standard input, tcp://HOST:PORT, kafka://HOST:PORT/TOPIC, or s3://BUCKET/PATH.");
  std::string source;
  std::uint64_t count = 10;
  bool follow = false;
  bool json = false;
  std::string format = "lines";
  CommandLine::Choices choices{"lines"};
  for (const RowFormat& each : formats) choices.emplace_back(each.name);
  std::string options_file;
  line.argument("SOURCE", source, "what `hummer sources` lists");
  line.option("--lines", count, "of each file or partition [10]");
  line.flag("-f,--follow", follow, "go on with what comes, until it is interrupted");
  line.option("--format", format, "what the lines are [lines]", choices);
  line.option("--client-options", options_file,
              "a file of lines NAME=VALUE: options of the client of a topic, such as TLS and "
              "passwords");
  line.flag("--json", json, "an object per line, for scripts");
  line.footer(
      "Exit code: 0 success, 1 failure or lines that are none of the format, 2 wrong usage.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  if (count == 0) {
    (void)platform.write_standard(2, "hummer tail: --lines must be 1 or more\n");
    return 2;
  }
  std::unique_ptr<RowReader> reader;
  for (const RowFormat& each : formats) {
    if (each.name == format) reader = each.make();
  }
  TailPrinter printer(platform, json, reader.get());
  Tail tail{platform, source, count, follow, printer};
  if (source == "-") return tail_standard_input(tail);
  if (source.starts_with(socket_scheme)) return tail_socket(tail);
  const std::string scheme = scheme_of(source);
  return scheme.empty() ? tail_files(tail) : tail_by_library(tail, scheme, options_file);
}

}  // namespace hummer
