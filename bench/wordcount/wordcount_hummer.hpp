// What the two Hummer programs of this workload share: their arguments, the job around the
// splitter, and the metrics of a run. The splitter is all in which they differ.
//
//   --input PATH --output FILE [--parallelism N] [--quiet]
//   --lower            words in lower case (ASCII)
//   --longer-than N    only words of more than N bytes
//   --map-files, --split-size-bytes N, --block-size-bytes N, --max-line-bytes N
//                      how files are read: see hummer::FileSourceOptions
//
// The variant is written as any user would, with filter and map: no operator knows WordCount.
// After a successful run standard error gets one JSON line; `seconds` is that of the JobResult,
// from the first plan of the job until the result stands under its name. Thread: main's.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <hummer/hummer.hpp>

// `--name N`, or `otherwise`; ends the program with 2 when it is no number.
inline std::uint64_t number_argument(hummer::StreamExecutionEnvironment& env, const char* name,
                                     std::uint64_t otherwise, const char* description) {
  const std::string text = env.argument_or(name, std::to_string(otherwise), description);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    std::fprintf(stderr, "--%s: '%s' is not a number\n", name, text.c_str());
    std::exit(2);
  }
  return number;
}

inline hummer::FileSourceOptions file_options(hummer::StreamExecutionEnvironment& env) {
  hummer::FileSourceOptions options;
  options.map_files = env.flag("map-files", "map plain files into memory");
  options.split_size_bytes = number_argument(env, "split-size-bytes", options.split_size_bytes,
                                             "where files are cut for the readers");
  options.block_size_bytes = number_argument(env, "block-size-bytes", options.block_size_bytes,
                                             "size of a block of lines");
  options.max_line_bytes =
      number_argument(env, "max-line-bytes", options.max_line_bytes, "a longer line is an error");
  return options;
}

inline void print_metrics(const hummer::JobResult& result) {
  std::uint64_t words = 0;
  for (const hummer::VertexSummary& vertex : result.vertices) {
    for (const hummer::OperatorSummary& op : vertex.operators) {
      if (op.name == "partial_count") words += op.records_in;
    }
  }
  std::fprintf(stderr,
               "{\"engine\": \"hummer\", \"version\": \"%s\", \"seconds\": %.6f, \"words\": %llu, "
               "\"distinct\": %llu}\n",
               HUMMER_VERSION, result.seconds, static_cast<unsigned long long>(words),
               static_cast<unsigned long long>(result.records_written));
}

// The job of both programs; their exit code.
template <typename Splitter>
int run_wordcount(hummer::StreamExecutionEnvironment& env, Splitter split) {
  const std::string input = env.argument("input", "file, directory or pattern to read");
  const std::string output = env.argument("output", "file to write");
  const bool lower = env.flag("lower", "count words in lower case");
  const std::size_t longer_than =
      number_argument(env, "longer-than", 0, "count words of more than N bytes");

  hummer::DataStream<std::string_view> words =
      env.from_file(input, file_options(env)).flat_map(split);
  if (longer_than > 0) {
    words =
        words.filter([longer_than](std::string_view word) { return word.size() > longer_than; });
  }
  if (lower) {
    words = words.map([](std::string_view word) {
      std::string lowered(word);
      for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
      return lowered;
    });
  }
  words.key_by(hummer::identity).count().write_file(output);
  const hummer::JobResult result = env.execute("WordCount");
  if (result.ok() && !result.vertices.empty()) print_metrics(result);
  return result.exit_code();
}
