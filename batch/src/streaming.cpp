#include "streaming.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace hummer::batch {
namespace {

constexpr Nanoseconds program_wait =
    milliseconds(100);  // then it is asked whether the job is to stop
constexpr std::size_t given_bytes = std::size_t{64} << 10;

void append_line(std::string& lines, const RecordView& record) {
  lines.append(record.key());
  lines.push_back('\t');
  lines.append(record.value());
  lines.push_back('\n');
}

// As Hadoop Streaming does: a shell passes no variable on whose name has a dot in it.
std::string variable_name(std::string name) {
  for (char& byte : name) {
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= 'a' && byte <= 'z');
    if (!is_plain) byte = '_';
  }
  return name;
}

}  // namespace

Status LineProgram::start(const TaskContext& context, const Parameters& parameters) {
  context_ = &context;
  std::vector<std::string> variables;
  for (const auto& [name, value] : parameters) {
    variables.push_back(variable_name(name) + "=" + value);
  }
  variables.push_back(fmt::format("mapreduce_task_partition={}", context.number()));
  if (context.kind() == TaskContext::Kind::map) {
    variables.push_back("mapreduce_map_input_file=" + context.path());
  }
  auto started = ChildProcess::start(command_, variables);
  if (!started.ok()) return started.status();
  process_ = std::move(*started);
  return Status();
}

void LineProgram::emit_lines(RecordOutput& output, bool all) {
  const std::string_view text = written_;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) {
      if (!all) break;
      end = text.size();
    }
    const std::string_view line = text.substr(at, end - at);
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      output.emit(line, {});
    } else {
      output.emit(line.substr(0, tab), line.substr(tab + 1));
    }
    at = std::min(end + 1, text.size());
  }
  written_.erase(0, at);
}

Status LineProgram::write(std::string_view lines, RecordOutput& output) {
  while (!lines.empty()) {
    if (context_->is_stopping()) return Status(ErrorCode::cancelled, "the job was stopped");
    HUMMER_TRY(process_->exchange(lines, written_, program_wait));
    emit_lines(output, false);
    HUMMER_TRY(Status(output.status()));
  }
  return Status();
}

Status LineProgram::end(RecordOutput& output) {
  process_->end_input();
  for (;;) {
    if (context_->is_stopping()) return Status(ErrorCode::cancelled, "the job was stopped");
    const auto more = process_->read(written_, program_wait);
    if (!more.ok()) return more.status();
    emit_lines(output, !*more);
    if (!*more) break;
  }
  const auto end = process_->wait();
  if (!end.ok()) return end.status();
  if (end->ok()) return Status();
  return Status(
      ErrorCode::user_function_failed,
      end->signal != 0
          ? fmt::format("the program `{}` was ended by signal {}", command_, end->signal)
          : fmt::format("the program `{}` ended with exit code {}", command_, end->exit_code));
}

Status StreamingMapper::map(std::span<const RecordView> records, MapOutput& output) {
  lines_.clear();
  for (const RecordView& record : records) {
    if (input_is_text_) {
      lines_.append(record.value());
      lines_.push_back('\n');
    } else {
      append_line(lines_, record);
    }
  }
  return program_.write(lines_, output);
}

Status StreamingReducer::reduce(GroupReader& groups, RecordOutput& output) {
  for (;;) {
    auto more = groups.next_group();
    if (!more.ok()) return more.status();
    if (!*more) break;
    while (groups.next_value()) {
      append_line(lines_, groups.record());
      if (lines_.size() < given_bytes) continue;
      HUMMER_TRY(program_.write(lines_, output));
      lines_.clear();
    }
    HUMMER_TRY(Status(groups.status()));
  }
  HUMMER_TRY(program_.write(lines_, output));
  lines_.clear();
  return Status();
}

}  // namespace hummer::batch
