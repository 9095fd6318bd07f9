// Follows a directory, and writes what its files hold by the hour: --input a directory or pattern
// whose lines begin with a time (milliseconds since 1970) and a blank; --output a directory, which
// gets dt=…/hour=…/part-…zst. It ends when there is a file _END.
#include <hummer/files.hpp>
#include <hummer/hummer.hpp>

#include <charconv>

struct Line {
  std::int64_t time_ms = 0;
  std::string_view text;
};

Line line_of(std::string_view text) {
  Line line;
  std::from_chars(text.data(), text.data() + text.size(), line.time_ms);
  line.text = text;
  return line;
}

void append_text(const Line& line, std::string& text) {
  text.append(line.text);
  text.push_back('\n');
}

void hourly_files(hummer::StreamExecutionEnvironment& env) {
  const auto lines =
      hummer::follow_files(env, env.argument("input"), {.settle_ms = 500, .end_marker = "_END"})
          .map(line_of)
          .assign_timestamps(&Line::time_ms,
                             hummer::WatermarkStrategy::bounded(60'000).with_idleness(30'000));
  hummer::write_files(lines, env.argument("output"),
                      {.compression = hummer::FileCompression::zstd, .success_markers = true},
                      hummer::hourly(&Line::time_ms), &append_text);
  env.execute("Hourly files");
}

HUMMER_JOB(hourly_files)
