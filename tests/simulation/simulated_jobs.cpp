#include "simulation/simulated_jobs.hpp"

#include <fmt/format.h>
#include <hummer/detail/connector_context.hpp>
#include <hummer/hummer.hpp>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

namespace hummer::cluster_simulation {

struct Row {
  std::uint64_t key;
  std::uint64_t value;
};

namespace {

constexpr std::uint64_t keys = 37;
constexpr std::string_view results = "/results";

class ResultSink final : public SinkFunction<Row> {
 public:
  ResultSink(std::string tag, std::string sink) : tag_(std::move(tag)), sink_(std::move(sink)) {}

  Status open(OperatorContext& context) override {
    context_ = &context;
    Files& files = connector_context(context).platform().files();
    const std::string directory = fmt::format("{}/{}", results, tag_);
    HUMMER_TRY(files.create_directories(directory));
    for (int number = 0;; ++number) {
      path_ = fmt::format("{}/{}-{}-{}", directory, sink_, context.subtask(), number);
      if (!files.stat(path_).ok()) break;
    }
    Result<std::unique_ptr<WritableFile>> file =
        files.open_for_writing(path_, WriteMode::create_new);
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
    return file_->append(fmt::format("open {}\n", connector_context(context).platform().now()));
  }
  OperatorResult write(std::span<const Row> rows) override {
    std::string text;
    for (const Row& row : rows) text += fmt::format("{} {}\n", row.key, row.value);
    return append(text);
  }
  OperatorResult end() override { return append("end\n"); }
  Status close() override { return file_ ? file_->close() : Status(); }

 private:
  OperatorResult append(const std::string& text) {
    Status status = file_->append(text);
    return status.ok() ? OperatorResult::done : context_->fail(std::move(status));
  }

  std::string tag_;
  std::string sink_;
  std::string path_;
  OperatorContext* context_ = nullptr;
  std::unique_ptr<WritableFile> file_;
};

auto result_sink(const std::string& tag, const std::string& sink) {
  return make_operator_factory([tag, sink] {
    return std::make_unique<SinkFunctionOperator<Row>>(std::make_unique<ResultSink>(tag, sink));
  });
}

struct Arguments {
  explicit Arguments(StreamExecutionEnvironment& env)
      : tag(env.argument("tag")),
        records(std::stoull(env.argument("records"))),
        rate(std::stod(env.argument_or("rate", "0"))) {}

  GeneratorOptions generator(std::uint64_t count) const {
    GeneratorOptions options;
    options.count = count;
    if (rate > 0) options.records_per_second = rate;
    return options;
  }
  std::string tag;
  std::uint64_t records;
  double rate;
};

constexpr auto same = [](std::uint64_t i) { return i; };
constexpr auto key_of_number = [](std::uint64_t i) { return i % keys; };
constexpr auto row_of_pair = [](const auto& pair) { return Row{pair.key, pair.value}; };
constexpr auto row_of_number = [](std::uint64_t i) { return Row{i, 1}; };

// generate → key_by → count → sink
void count(StreamExecutionEnvironment& env) {
  const Arguments arguments(env);
  env.generate(same, arguments.generator(arguments.records))
      .key_by(key_of_number)
      .count()
      .map(row_of_pair)
      .add_sink("counts", result_sink(arguments.tag, "counts"));
  env.execute(job_name(JobKind::count, arguments.tag));
}

// Two sources, a union, a branch, and two exchanges one after the other.
void branches(StreamExecutionEnvironment& env) {
  const Arguments arguments(env);
  const auto first = env.generate(same, arguments.generator(arguments.records)).name("first");
  const std::uint64_t behind = arguments.records;
  const auto second = env.generate([behind](std::uint64_t i) { return behind + i; },
                                   arguments.generator(arguments.records / 2))
                          .name("second");
  const auto all = first.union_with(second)
                       .rebalance()
                       .map([](std::uint64_t i) { return i * 3; })
                       .disable_chaining();
  all.filter([](std::uint64_t i) { return i % 2 == 0; })
      .map(row_of_number)
      .disable_chaining()
      .add_sink("even", result_sink(arguments.tag, "even"));
  all.key_by(key_of_number)
      .sum([](std::uint64_t i) { return i; })
      .map(row_of_pair)
      .add_sink("sums", result_sink(arguments.tag, "sums"));
  env.execute(job_name(JobKind::branches, arguments.tag));
}

// Goes on until somebody ends it.
void endless(StreamExecutionEnvironment& env) {
  const Arguments arguments(env);
  GeneratorOptions options;
  options.records_per_second = arguments.rate;
  env.generate(same, options)
      .rebalance()
      .map(row_of_number)
      .disable_chaining()
      .add_sink("numbers", result_sink(arguments.tag, "numbers"));
  env.execute(job_name(JobKind::endless, arguments.tag));
}

void mistake(StreamExecutionEnvironment& env) {
  const Arguments arguments(env);
  const std::uint64_t wrong = arguments.records / 2;
  env.generate(same, arguments.generator(arguments.records))
      .rebalance()
      .map([wrong](std::uint64_t i) {
        if (i == wrong) throw std::runtime_error(std::string(mistake_text));
        return Row{i, 1};
      })
      .disable_chaining()
      .add_sink("numbers", result_sink(arguments.tag, "numbers"));
  env.execute(job_name(JobKind::mistake, arguments.tag));
}

std::string_view kind_name(JobKind kind) {
  switch (kind) {
    case JobKind::count: return "count";
    case JobKind::branches: return "branches";
    case JobKind::endless: return "endless";
    case JobKind::mistake: return "mistake";
  }
  return "?";
}

using Rows = std::map<std::uint64_t, std::uint64_t>;

std::string compare(std::string_view sink, const Rows& expected, const Rows& got) {
  if (expected == got) return {};
  std::uint64_t missing = 0, wrong = 0, foreign = 0;
  for (const auto& [key, value] : expected) {
    const auto found = got.find(key);
    if (found == got.end()) {
      ++missing;
    } else if (found->second != value) {
      ++wrong;
    }
  }
  for (const auto& [key, value] : got) foreign += expected.count(key) == 0 ? 1 : 0;
  return fmt::format("sink {}: {} of {} rows missing, {} with another value, {} too many", sink,
                     missing, expected.size(), wrong, foreign);
}

// The rows of a sink whose every key comes once.
std::string collect(const JobOutput& output, const std::string& sink, Rows& rows) {
  const auto found = output.find(sink);
  if (found == output.end()) return "sink " + sink + " left nothing";
  std::map<int, const SinkOutput*> last;
  for (const SinkOutput& one : found->second) last[one.subtask] = &one;
  for (const auto& [subtask, one] : last) {
    if (!one->ended) return fmt::format("sink {}[{}] on {} did not end", sink, subtask, one->node);
    for (const auto& [key, value] : one->rows) {
      if (!rows.emplace(key, value).second) {
        return fmt::format("sink {} has {} twice", sink, key);
      }
    }
  }
  return {};
}

// Subtask s of p made s, s + p, …: each without a gap.
std::string check_prefixes(const Rows& rows, int subtasks) {
  const auto step = static_cast<std::uint64_t>(std::max(subtasks, 1));
  std::vector<std::uint64_t> next(step);
  for (std::uint64_t s = 0; s < step; ++s) next[s] = s;
  for (const auto& [number, one] : rows) {
    std::uint64_t& expected = next[number % step];
    if (number != expected) return fmt::format("number {} is missing", expected);
    expected += step;
  }
  return {};
}

std::string check_count(std::uint64_t records, bool stopped, const JobOutput& output) {
  Rows got;
  if (std::string wrong = collect(output, "counts", got); !wrong.empty()) return wrong;
  Rows expected;
  for (std::uint64_t i = 0; i < records; ++i) ++expected[i % keys];
  if (!stopped) return compare("counts", expected, got);
  for (const auto& [key, value] : got) {
    if (value > expected[key]) return fmt::format("key {} counted {} times", key, value);
  }
  return {};
}

std::string check_branches(std::uint64_t records, const JobOutput& output) {
  Rows even, sums, expected_even, expected_sums;
  if (std::string wrong = collect(output, "even", even); !wrong.empty()) return wrong;
  if (std::string wrong = collect(output, "sums", sums); !wrong.empty()) return wrong;
  for (std::uint64_t i = 0; i < records + records / 2; ++i) {
    const std::uint64_t number = i * 3;
    if (number % 2 == 0) expected_even[number] = 1;
    expected_sums[number % keys] += number;
  }
  if (std::string wrong = compare("even", expected_even, even); !wrong.empty()) return wrong;
  return compare("sums", expected_sums, sums);
}

Result<std::string> read_whole(Files& files, const std::string& path) {
  Result<std::unique_ptr<ReadableFile>> file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  std::string text((*file)->size_bytes(), '\0');
  Result<std::size_t> got = (*file)->read_at(0, text);
  if (!got.ok()) return got.status();
  text.resize(*got);
  return text;
}

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Status parse_output(const std::string& path, std::string_view text, SinkOutput& output) {
  const Status wrong(ErrorCode::corrupt_file, path + " is not what a sink writes");
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // A torn last line: the process was killed.
    if (end == std::string_view::npos) return {};
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (output.ended) return wrong;
    const std::size_t space = line.find(' ');
    if (line == "end") {
      output.ended = true;
      continue;
    }
    if (space == std::string_view::npos) return wrong;
    std::uint64_t key = 0, value = 0;
    if (!read_number(line.substr(space + 1), value)) return wrong;
    if (first) {
      if (line.substr(0, space) != "open") return wrong;
      output.opened = static_cast<Nanoseconds>(value);
      first = false;
      continue;
    }
    if (!read_number(line.substr(0, space), key)) return wrong;
    output.rows.emplace_back(key, value);
  }
  return {};
}

}  // namespace

std::uint64_t library_hash(JobKind kind) { return 0x1000 + static_cast<std::uint64_t>(kind); }

JobFunction job_function(JobKind kind) {
  switch (kind) {
    case JobKind::count: return &call_job<&count>;
    case JobKind::branches: return &call_job<&branches>;
    case JobKind::endless: return &call_job<&endless>;
    case JobKind::mistake: return &call_job<&mistake>;
  }
  return nullptr;
}

void add_all_jobs(BuiltInJobLibraries& libraries) {
  for (std::size_t i = 0; i < job_kinds; ++i) {
    const auto kind = static_cast<JobKind>(i);
    libraries.add(library_hash(kind), job_function(kind));
  }
}

std::string job_name(JobKind kind, std::string_view tag) {
  return fmt::format("{} {}", kind_name(kind), tag);
}

Result<JobOutput> read_output(const std::vector<SimulatedPlatform*>& nodes,
                              const std::string& tag) {
  JobOutput output;
  const std::string directory = fmt::format("{}/{}", results, tag);
  for (SimulatedPlatform* node : nodes) {
    const Result<std::vector<std::string>> names = node->files().list_directory(directory);
    if (!names.ok()) continue;  // no sink ran here
    for (const std::string& name : *names) {
      const std::string path = directory + "/" + name;
      Result<std::string> text = read_whole(node->files(), path);
      if (!text.ok()) return text.status();
      const std::size_t dash = name.find('-');
      SinkOutput one;
      one.node = node->name();
      one.subtask = std::stoi(name.substr(dash + 1));
      HUMMER_TRY(parse_output(path, *text, one));
      output[name.substr(0, dash)].push_back(std::move(one));
    }
  }
  for (auto& [sink, ones] : output) {
    std::stable_sort(ones.begin(), ones.end(),
                     [](const auto& a, const auto& b) { return a.opened < b.opened; });
  }
  return output;
}

std::string check_output(JobKind kind, std::uint64_t records, bool stopped, int source_subtasks,
                         const JobOutput& output) {
  switch (kind) {
    case JobKind::count: return check_count(records, stopped, output);
    case JobKind::branches: return stopped ? std::string() : check_branches(records, output);
    case JobKind::endless: {
      Rows rows;
      if (std::string wrong = collect(output, "numbers", rows); !wrong.empty()) return wrong;
      return check_prefixes(rows, source_subtasks);
    }
    case JobKind::mistake: return stopped ? "" : "it finished in spite of its mistake";
  }
  return {};
}

}  // namespace hummer::cluster_simulation
