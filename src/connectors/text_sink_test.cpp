#include <hummer/detail/operators/text_sink.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/connector_test_context.hpp"

namespace hummer::text_sink_test {
namespace {

struct Journal {
  std::string text;
  std::vector<std::size_t> writes;
  std::vector<std::string> calls;
  int blocked_per_write = 0;
  Status commit_status;
};

class RecordingWriter final : public TextWriter {
 public:
  explicit RecordingWriter(Journal& journal) : journal_(journal) {}
  Status open(OperatorContext&) override {
    journal_.calls.push_back("open");
    return {};
  }
  OperatorResult write(std::string_view lines) override {
    if (blocked_ < journal_.blocked_per_write) {
      ++blocked_;
      return OperatorResult::blocked;
    }
    blocked_ = 0;
    EXPECT_FALSE(lines.empty());
    EXPECT_EQ(lines.back(), '\n');
    journal_.text += lines;
    journal_.writes.push_back(lines.size());
    return OperatorResult::done;
  }
  Status commit() override {
    journal_.calls.push_back("commit");
    return journal_.commit_status;
  }
  void close() override { journal_.calls.push_back("close"); }

 private:
  Journal& journal_;
  int blocked_ = 0;
};

template <typename T>
class Sink {
 public:
  Sink() : operator_(std::make_unique<RecordingWriter>(journal), append_lines<T>) {
    operator_.set_context(context);
    EXPECT_TRUE(operator_.open().ok());
  }
  // Calls until it answers something else than blocked.
  template <typename Call>
  OperatorResult drive(Call call) {
    OperatorResult answer = OperatorResult::blocked;
    for (int i = 0; i < 100 && answer == OperatorResult::blocked; ++i) answer = call();
    return answer;
  }
  OperatorResult process(const std::vector<T>& values) {
    Batch batch(type_of<T>(), static_cast<std::uint32_t>(values.size()));
    {
      Collector<T> collector(batch, static_cast<std::uint32_t>(values.size()));
      for (const T& value : values) collector(value);
    }
    const OperatorResult answer = drive([&] { return operator_.process(batch, out); });
    EXPECT_TRUE(batch.finished());
    return answer;
  }

  Journal journal;
  std::unique_ptr<SimulatedPlatform> platform = make_simulated_platform({});
  ConnectorTestContext context{*platform};
  Output out;
  TextSinkOperator operator_;
};

TEST(TextSink, WritesOneLinePerRecordAndCommitsAtTheEnd) {
  Sink<std::pair<std::string_view, int>> sink;
  EXPECT_EQ(sink.process({{"a", 1}, {"b", 2}}), OperatorResult::done);
  EXPECT_EQ(sink.journal.text, "");
  EXPECT_EQ(sink.operator_.idle(sink.out), OperatorResult::done);
  EXPECT_EQ(sink.journal.text, "a\t1\nb\t2\n");
  EXPECT_EQ(sink.process({{"c", 3}}), OperatorResult::done);
  EXPECT_EQ(sink.operator_.end(sink.out), OperatorResult::done);
  ASSERT_TRUE(sink.operator_.close().ok());
  EXPECT_EQ(sink.journal.text, "a\t1\nb\t2\nc\t3\n");
  EXPECT_EQ(sink.journal.calls, (std::vector<std::string>{"open", "commit", "close"}));
}

TEST(TextSink, HandsOverAtItsLimitAndResumesAfterBlocked) {
  Sink<std::string_view> sink;
  sink.journal.blocked_per_write = 3;
  const std::string line(999, 'x');
  std::string expected;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(sink.process(std::vector<std::string_view>(100, line)), OperatorResult::done);
    for (int j = 0; j < 100; ++j) expected += line + "\n";
  }
  EXPECT_GT(sink.journal.writes.size(), 10u);
  for (const std::size_t size : sink.journal.writes) EXPECT_LT(size, (64u << 10) + 1000);
  EXPECT_EQ(sink.drive([&] { return sink.operator_.end(sink.out); }), OperatorResult::done);
  EXPECT_EQ(sink.journal.text, expected);
}

TEST(TextSink, AnEpochLeavesNothingBehind) {
  Sink<int> sink;
  EXPECT_EQ(sink.process({1, 2, 3}), OperatorResult::done);
  EXPECT_EQ(sink.operator_.flush(sink.out), OperatorResult::done);
  EXPECT_EQ(sink.journal.text, "1\n2\n3\n");
}

TEST(TextSink, BlocksOfLinesAreWrittenAsTheyAre) {
  Sink<TextBlock> sink;
  const std::string with_end = "a\n\nb\r\n", without_end = "last";
  EXPECT_EQ(sink.process({{with_end.data(), with_end.size(), 0, nullptr},
                          {without_end.data(), without_end.size(), 0, nullptr},
                          {with_end.data(), with_end.size(), 0, nullptr}}),
            OperatorResult::done);
  EXPECT_EQ(sink.operator_.end(sink.out), OperatorResult::done);
  EXPECT_EQ(sink.journal.text, "a\n\nb\r\nlast\na\n\nb\r\n");
}

TEST(TextSink, AFailedCommitFailsTheJob) {
  Sink<int> sink;
  sink.journal.commit_status = {ErrorCode::disk_full, "no room"};
  EXPECT_EQ(sink.operator_.end(sink.out), OperatorResult::failed);
  EXPECT_EQ(sink.context.failure().code(), ErrorCode::disk_full);
}

struct Fragile {
  int value;
};
[[maybe_unused]] void format_record(const Fragile& record, std::string& out) {
  out += "half a line";
  if (record.value < 0) throw std::runtime_error("negative");
}

TEST(TextSink, ARecordWhoseFormatThrowsLeavesNoHalfLine) {
  Sink<Fragile> sink;
  Batch batch(type_of<Fragile>(), 2);
  {
    Collector<Fragile> collector(batch, 2);
    collector(Fragile{1});
    collector(Fragile{-1});
  }
  EXPECT_THROW(static_cast<void>(sink.operator_.process(batch, sink.out)), std::runtime_error);
  EXPECT_EQ(batch.position(), 1u);
  EXPECT_EQ(sink.operator_.idle(sink.out), OperatorResult::done);
  EXPECT_EQ(sink.journal.text, "half a line\n");
}

TEST(PrintWriter, WritesAtOnceToStandardOutput) {
  auto platform = make_simulated_platform({});
  ConnectorTestContext context(*platform);
  auto writer = make_print_writer()->make();
  ASSERT_TRUE(writer->open(context).ok());
  EXPECT_EQ(writer->write("one\n"), OperatorResult::done);
  EXPECT_EQ(platform->standard(1), "one\n");
  EXPECT_EQ(writer->write("two\n"), OperatorResult::done);
  EXPECT_TRUE(writer->commit().ok());
  writer->close();
  EXPECT_EQ(platform->standard(1), "one\ntwo\n");
}

}  // namespace
}  // namespace hummer::text_sink_test
