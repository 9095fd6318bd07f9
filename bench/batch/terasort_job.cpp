// TeraSort as a job of the engine, for one process or for workers of a cluster: --input a file of
// rows of 100 bytes (teragen), --output a directory, in which the files' names are in the order of
// the rows. For bench/acceptance/batch/01-terasort.
//
// Keys are sampled where the job is written, so each process that builds it draws the same: a row
// goes to the subtask whose range of keys it is in, which sorts what it gets, beyond its memory
// (--bounded-memory-bytes) through files.
#include <hummer/files.hpp>
#include <hummer/hummer.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using hummer::OperatorResult;
using hummer::Status;

struct Row {
  std::array<std::uint8_t, 10> key;
  std::array<char, 90> rest;
};
static_assert(sizeof(Row) == 100);
using Key = decltype(Row::key);

class RowFile {
 public:
  explicit RowFile(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDONLY)) {
    struct stat status{};
    if (file_ < 0 || ::fstat(file_, &status) != 0) fail("is not read");
    rows_ = static_cast<std::uint64_t>(status.st_size) / sizeof(Row);
    if (rows_ * sizeof(Row) != static_cast<std::uint64_t>(status.st_size)) {
      throw std::runtime_error("'" + path_ + "' ends within a row of 100 bytes");
    }
  }
  ~RowFile() {
    if (file_ >= 0) ::close(file_);
  }
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  std::uint64_t rows() const { return rows_; }
  void read(std::uint64_t first, Row* rows, std::size_t count) const {
    auto* to = reinterpret_cast<char*>(rows);
    std::size_t left = count * sizeof(Row);
    for (std::uint64_t at = first * sizeof(Row); left > 0;) {
      const ssize_t got = ::pread(file_, to, left, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail("ends too early");
      to += got;
      at += static_cast<std::uint64_t>(got);
      left -= static_cast<std::size_t>(got);
    }
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
    throw std::runtime_error("'" + path_ + "' " + what + why);
  }

  const std::string path_;
  const int file_;
  std::uint64_t rows_ = 0;
};

// Each subtask reads its part of the rows.
class Rows final : public hummer::SourceFunction<Row> {
 public:
  explicit Rows(std::string path) : path_(std::move(path)) {}

  Status open(hummer::OperatorContext& context) override {
    file_ = std::make_unique<RowFile>(path_);
    const auto subtask = static_cast<std::uint64_t>(context.subtask());
    const auto subtasks = static_cast<std::uint64_t>(context.parallelism());
    next_ = file_->rows() * subtask / subtasks;
    end_ = file_->rows() * (subtask + 1) / subtasks;
    return {};
  }
  OperatorResult produce(hummer::SourceOutput<Row>& out) override {
    const std::span<Row> to = out.room();
    const std::size_t count = std::min<std::uint64_t>(to.size(), end_ - next_);
    file_->read(next_, to.data(), count);
    out.wrote(count);
    next_ += count;
    return next_ == end_ ? OperatorResult::done : OperatorResult::more;
  }

 private:
  const std::string path_;
  std::unique_ptr<RowFile> file_;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
};

// Which range of keys a row is in. Each subtask has one of its own, which takes from the samples
// what cuts as many ranges as there are.
struct Ranges {
  std::shared_ptr<const std::vector<Key>> samples;  // sorted
  hummer::CapturedValues captured_values;
  mutable std::vector<Key> cuts = {};

  std::uint64_t operator()(const Row& row, std::uint32_t ranges) const {
    if (cuts.size() + 1 != ranges) cut(ranges);
    return static_cast<std::uint64_t>(std::upper_bound(cuts.begin(), cuts.end(), row.key) -
                                      cuts.begin());
  }
  void cut(std::uint32_t ranges) const {
    cuts.clear();
    for (std::size_t i = 1; i < ranges && !samples->empty(); ++i) {
      cuts.push_back((*samples)[samples->size() * i / ranges]);
    }
    cuts.resize(ranges - 1);  // without samples there are no rows
  }
};

Ranges sampled_ranges(const RowFile& file) {
  constexpr std::uint64_t most_samples = 10'000;
  const std::uint64_t count = std::min(most_samples, file.rows());
  std::vector<Key> samples;
  for (std::uint64_t i = 0; i < count; ++i) {
    Row row;
    file.read(file.rows() * i / count, &row, 1);
    samples.push_back(row.key);
  }
  std::sort(samples.begin(), samples.end());
  const hummer::CapturedValues captured = hummer::encoded_elements(samples);
  return {std::make_shared<const std::vector<Key>>(std::move(samples)), captured};
}

struct AppendRow {
  void operator()(const Row& row, std::string& text) const {
    text.append(reinterpret_cast<const char*>(&row), sizeof row);
  }
};

}  // namespace

void terasort_job(hummer::StreamExecutionEnvironment& env) {
  const std::string input = env.argument("input", "a file of rows of 100 bytes");
  const std::string output = env.argument("output", "a directory");
  const auto sorted =
      env.from_source<Row>(
             "rows", hummer::rebuildable([input] { return std::make_unique<Rows>(input); }, input),
             true)
          .partition_custom(sampled_ranges(RowFile(input)))
          .sort_partition(&Row::key);
  hummer::write_files(sorted, output, {.roll_bytes = 0, .roll_ms = 0, .idle_ms = 0},
                      hummer::NoPartition(), AppendRow());
  env.execute("TeraSort");
}

HUMMER_JOB(terasort_job)
