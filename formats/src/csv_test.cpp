// CSV through whole jobs: files, headers, quotes, splits, bad records, restarts.
#include <hummer/formats/csv.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <hummer/hummer.hpp>

#include "job_files_for_test.hpp"

namespace hummer::formats::csv_test {
namespace {

struct Trade {
  std::string symbol;
  double price = 0;
  std::int64_t size = 0;
  std::optional<std::string> note;
  friend auto operator<=>(const Trade&, const Trade&) = default;
};
struct TradeView {
  std::string_view symbol;
  double price = 0;
  std::int32_t size = 0;
  std::optional<std::string_view> note;
};

constexpr SideOutput<FailedRecord<std::string_view>> bad{"bad lines"};

struct Outcome {
  JobResult result;
  std::vector<Trade> trades;
  std::vector<std::string> failed;  // "position: text: reason"
};

Outcome read(EnvironmentOptions environment, const std::string& path, const CsvOptions& options,
             const FileSourceOptions& file = {}, const FailurePolicy& policy = fail_job()) {
  Outcome outcome;
  std::mutex mutex;
  StreamExecutionEnvironment env(std::move(environment));
  const auto trades = from_csv<TradeView>(env, path, options, file).on_failure(policy);
  trades.for_each([&](const TradeView& trade) {
    const std::lock_guard lock(mutex);
    outcome.trades.push_back({std::string(trade.symbol), trade.price, trade.size, {}});
    if (trade.note) outcome.trades.back().note = std::string(*trade.note);
  });
  if (policy.put != nullptr) {
    trades.side_output(bad).for_each([&](const FailedRecord<std::string_view>& failed) {
      const std::lock_guard lock(mutex);
      outcome.failed.push_back(failed.position + ": " + std::string(failed.record) + ": " +
                               failed.reason);
    });
  }
  outcome.result = env.execute("read");
  return outcome;
}

class Csv : public testing::Test {
 protected:
  std::vector<Trade> read_text(const std::string& text, const CsvOptions& options = {}) {
    put_file(*node_, "/in/trades.csv", text);
    const Outcome outcome = read(on(*node_), "/in/trades.csv", options);
    EXPECT_TRUE(outcome.result.ok()) << outcome.result.status.to_string();
    return outcome.trades;
  }
  std::string failure_of(const std::string& text, const CsvOptions& options = {}) {
    put_file(*node_, "/in/trades.csv", text);
    const Outcome outcome = read(on(*node_), "/in/trades.csv", options);
    EXPECT_FALSE(outcome.result.ok());
    return outcome.result.status.to_string();
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
};

using Trades = std::vector<Trade>;

TEST_F(Csv, ColumnsAreFoundByTheHeaderInAnyOrder) {
  EXPECT_EQ(read_text("size,other,symbol,price\n10,x,ACME,1.25\n-3,,\"B, C\",1e3\n"),
            (Trades{{"ACME", 1.25, 10, {}}, {"B, C", 1000, -3, {}}}));
}

TEST_F(Csv, QuotesCarriageReturnsAndEmptyLinesAreAsTheStandardHasThem) {
  EXPECT_EQ(read_text("\xef\xbb\xbf\"symbol\",price,size,note\r\n\r\n"
                      "\"say \"\"hi\"\"\",\"1\",2,\r\n"
                      "\"\",0.5,7,\"\"\r\n\n"
                      "x,3,4,\"last\""),
            (Trades{{"say \"hi\"", 1, 2, {}}, {"", 0.5, 7, ""}, {"x", 3, 4, "last"}}));
}

TEST_F(Csv, DialectsHaveTheirOwnMarks) {
  EXPECT_EQ(read_text("symbol;price;size;note\n'a;b';1;2;NULL\n'it''s';1;2;'NULL'\n",
                      {.separator = ';', .quote = '\'', .null_text = "NULL"}),
            (Trades{{"a;b", 1, 2, {}}, {"it's", 1, 2, "NULL"}}));
  EXPECT_EQ(read_text("5\" disk\t1\t2\t\"\n", {.header = false, .separator = '\t', .quote = 0}),
            (Trades{{"5\" disk", 1, 2, "\""}}));
  EXPECT_EQ(read_text("1,x,2\n", {.header = false, .columns = {"size", "symbol", "price"}}),
            (Trades{{"x", 2, 1, {}}}));
}

TEST_F(Csv, AFileWithoutRecordsIsFine) {
  EXPECT_EQ(read_text(""), Trades());
  EXPECT_EQ(read_text("symbol,price,size"), Trades());
  EXPECT_EQ(read_text("symbol,price,size\n\n\n"), Trades());
}

TEST_F(Csv, AHeaderThatCannotServeFailsTheJobAndNamesTheColumn) {
  EXPECT_NE(failure_of("symbol,size\na,1\n").find("'/in/trades.csv': no column 'price'"),
            std::string::npos);
  EXPECT_NE(failure_of("symbol,price,size,price\n").find("column 'price' comes twice"),
            std::string::npos);
  EXPECT_NE(failure_of("symbol,price,size,more\n", {.refuse_unknown_columns = true})
                .find("column 'more' is no field of"),
            std::string::npos);
  EXPECT_NE(failure_of("symbol,\"price,size\n").find("a quote of the header is open"),
            std::string::npos);
}

TEST_F(Csv, ABadRecordFailsTheJobWithItsPlaceAndReason) {
  const std::string head = "symbol,price,size,note\na,1,2,\n";
  const auto reason = [&](const std::string& line) { return failure_of(head + line); };
  EXPECT_NE(reason("b,x,2,\n").find("/in/trades.csv, line 3 (byte 30)"), std::string::npos)
      << reason("b,x,2,\n");
  EXPECT_NE(reason("b,x,2,\n").find("column 'price': 'x' is not a number"), std::string::npos);
  EXPECT_NE(reason("b,1,2\n").find("3 fields, and the header has 4"), std::string::npos);
  EXPECT_NE(reason("b,1,2,n,\n").find("5 fields, and the header has 4"), std::string::npos);
  EXPECT_NE(reason("b,1,,\n").find("column 'size': it is empty"), std::string::npos);
  EXPECT_NE(reason("b,1,9999999999,\n").find("column 'size': '9999999999' is not a whole number"),
            std::string::npos);
  EXPECT_NE(reason("b\"c\",1,2,\n").find("has a quote and does not begin with one"),
            std::string::npos);
  EXPECT_NE(reason("\"b\"c,1,2,\n").find("goes on behind its closing quote"), std::string::npos);
}

TEST_F(Csv, BadRecordsAreSkippedAndCountedOrGoToASideOutput) {
  put_file(*node_, "/in/trades.csv",
           "symbol,price,size,note\na,1,2,\nb,x,2,\nc\nd,4,5,\n,,,\n\"e,6,7,\nf,8,9,");
  const CsvOptions never{.line_breaks = CsvOptions::LineBreaks::never};
  const Trades good{{"a", 1, 2, {}}, {"d", 4, 5, {}}, {"f", 8, 9, {}}};
  for (const std::uint32_t batch : {1u, 2u, 1024u}) {
    const Outcome skipped =
        read(on(*node_, 1, batch), "/in/trades.csv", never, {}, skip_failures());
    ASSERT_TRUE(skipped.result.ok()) << skipped.result.status.to_string();
    EXPECT_EQ(skipped.trades, good);
    std::uint64_t count = 0;
    for (const VertexSummary& vertex : skipped.result.vertices) {
      for (const OperatorSummary& each : vertex.operators) count += each.records_skipped;
    }
    EXPECT_EQ(count, 4u);

    const Outcome aside = read(on(*node_, 1, batch), "/in/trades.csv", never, {}, failures_to(bad));
    ASSERT_TRUE(aside.result.ok()) << aside.result.status.to_string();
    EXPECT_EQ(aside.trades, good);
    ASSERT_EQ(aside.failed.size(), 4u);
    EXPECT_EQ(aside.failed[0],
              "/in/trades.csv, line 3 (byte 30): b,x,2,: column 'price': 'x' is not a number that "
              "it can hold");
    EXPECT_EQ(aside.failed[1],
              "/in/trades.csv, line 4 (byte 37): c: 1 field, and the header has 4");
    EXPECT_EQ(aside.failed[3],
              "/in/trades.csv, line 7 (byte 50): \"e,6,7,: a quote is open at the end of the line");
  }
}

// Whatever the policy: what stands behind the quote may be a part of a text.
TEST_F(Csv, ALineEndInQuotesFailsTheJobUnlessTheOptionsSayWhatItIs) {
  const std::string text = "symbol,price,size,note\na,1,2,\"x\nfake,3,4,y\"\nb,5,6,\n";
  put_file(*node_, "/in/trades.csv", text);
  for (const FailurePolicy& policy : {fail_job(), skip_failures()}) {
    const Outcome refused = read(on(*node_), "/in/trades.csv", {}, {}, policy);
    EXPECT_FALSE(refused.result.ok());
    EXPECT_NE(refused.result.status.to_string().find("line_breaks"), std::string::npos);
    EXPECT_EQ(refused.result.status.to_string().find("fake"), std::string::npos);
  }
  EXPECT_EQ(read_text(text, {.line_breaks = CsvOptions::LineBreaks::quoted}),
            (Trades{{"a", 1, 2, "x\nfake,3,4,y"}, {"b", 5, 6, {}}}));
}

// Every line of the file comes once, whatever pieces it is read in.
TEST_F(Csv, SplitsAndBlocksAtEveryByteGiveTheSameRecords) {
  const std::string plain =
      "symbol,price,size,note\r\na,1,2,\r\n\"b,\"\"c\",-1.5,3,\"\"\n\n"
      "d,1e2,4,\"n\"\ne,0,0,\n";
  const std::string broken = "symbol,price,size,note\na,1,2,\"x\ny,\"\"\n\"\n\"b\n\",5,6,\nc,7,8,z";
  const auto quoted = CsvOptions::LineBreaks::quoted;
  for (const bool breaks : {false, true}) {
    const std::string& text = breaks ? broken : plain;
    const CsvOptions options{.line_breaks = breaks ? quoted : CsvOptions::LineBreaks::refused};
    Trades expected = read_text(text, options);
    ASSERT_EQ(expected.size(), breaks ? 3u : 4u);
    std::sort(expected.begin(), expected.end());
    for (std::size_t split = 1; split <= text.size(); ++split) {
      for (const std::size_t block : {std::size_t{1}, split, std::size_t{1000}}) {
        for (const bool mapped : {false, true}) {
          Outcome outcome =
              read(on(*node_, split % 3 + 1, split % 4 + 1), "/in/trades.csv", options,
                   {.split_size_bytes = split, .block_size_bytes = block, .map_files = mapped});
          ASSERT_TRUE(outcome.result.ok()) << outcome.result.status.to_string();
          std::sort(outcome.trades.begin(), outcome.trades.end());
          ASSERT_EQ(outcome.trades, expected) << "split " << split << " block " << block;
        }
      }
    }
  }
}

TEST_F(Csv, EachFileHasAHeaderOfItsOwn) {
  put_file(*node_, "/in/a.csv", "symbol,price,size\na,1,2\nb,3,4\n");
  put_file(*node_, "/in/b.csv", "size,symbol,price\n6,c,5\n8,d,7\n");
  for (const std::uint64_t split : {5, 20, 1000}) {
    Outcome outcome = read(on(*node_, 2), "/in", {}, {.split_size_bytes = split});
    ASSERT_TRUE(outcome.result.ok()) << outcome.result.status.to_string();
    std::sort(outcome.trades.begin(), outcome.trades.end());
    EXPECT_EQ(outcome.trades,
              (Trades{{"a", 1, 2, {}}, {"b", 3, 4, {}}, {"c", 5, 6, {}}, {"d", 7, 8, {}}}));
  }
}

TEST_F(Csv, ADecoderThatHasNotSeenTheHeaderFailsTheJob) {
  std::string text = "symbol,price,size,note\n";
  for (int i = 0; i < 200; ++i) text += "a,1,2,\n";
  put_file(*node_, "/in/trades.csv", text);
  StreamExecutionEnvironment env(on(*node_, 2));
  const FileSourceOptions plain{.split_size_bytes = 100};
  decode<Trade>(env.from_file("/in/trades.csv", plain), csv()).write_file("/out");
  const JobResult result = env.execute("no header");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status.to_string().find("csv_file(options)"), std::string::npos)
      << result.status.to_string();
}

TEST_F(Csv, RecordsThatNoRowCanHoldAreRefusedBeforeTheJobRuns) {
  struct Listed {
    std::int64_t id;
    std::vector<int> list;
  };
  StreamExecutionEnvironment env(on(*node_));
  from_csv<Listed>(env, "/in/none.csv").for_each([](const Listed&) {});
  const JobResult result = env.execute("refused");
  EXPECT_NE(result.status.to_string().find("the field 'list' is a list"), std::string::npos)
      << result.status.to_string();
}

TEST_F(Csv, MessagesAreRecordsByThemselves) {
  StreamExecutionEnvironment env(on(*node_));
  const DataStream<std::string_view> lines =
      env.from_collection(std::vector<std::string>{"a,1,2,", "b,x,2,", "c,3,4,n\nd,5,6,"});
  const auto trades = decode<Trade>(lines, csv({.header = false})).on_failure(skip_failures());
  encode_messages(trades, csv({.header = false, .separator = ';'})).write_file("/out");
  ASSERT_TRUE(env.execute("messages").ok());
  EXPECT_EQ(get_file(*node_, "/out"), "a;1;2;\nc;3;4;n\nd;5;6;\n");
}

// From a file to typed records, by key, to a file.
TEST_F(Csv, AKeyedJobReadsAndWritesFiles) {
  std::string text = "symbol,price,size\n";
  std::map<std::string, std::int64_t> expected;
  for (int i = 0; i < 5000; ++i) {
    const std::string symbol = "S" + std::to_string(i * 7919 % 13);
    text += symbol + ",1.5," + std::to_string(i) + "\n";
    expected[symbol] += i;
  }
  put_file(*node_, "/in/trades.csv", text);
  StreamExecutionEnvironment env(on(*node_, 2));
  const auto totals = from_csv<Trade>(env, "/in/trades.csv", {}, {.split_size_bytes = 4096})
                          .key_by(&Trade::symbol)
                          .sum(&Trade::size);
  write_csv(totals, "/out/totals.csv");
  const JobResult result = env.execute("totals");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::string written = get_file(*node_, "/out/totals.csv");
  ASSERT_TRUE(written.starts_with("key,value\n")) << written;
  std::map<std::string, std::int64_t> sums;
  std::istringstream lines(written);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    sums[line.substr(0, line.find(','))] += std::stoll(line.substr(line.rfind(',') + 1));
  }
  EXPECT_EQ(sums, expected);
}

// A job that fails and starts again reads the header again, in the middle of a file.
TEST_F(Csv, ARestartGoesOnInTheMiddleOfAFile) {
  for (const bool breaks : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      auto node = make_simulated_platform({.seed = seed});
      std::string text = "note,size,symbol,price\n";
      std::vector<std::string> expected;
      for (int i = 0; i < 3000; ++i) {
        const std::string id = std::to_string(i);
        text += breaks ? "\"a\n,b\"," : "n,";
        text += id + ",s,2\n";
        expected.push_back("s,2," + id);
      }
      put_file(*node, "/in/trades.csv", text);
      std::atomic<int> failures{3};
      std::atomic<int> seen{0};
      EnvironmentOptions options = on(*node, 2, 64);
      options.channel_credits = 2;
      options.checkpoints.directory = "/checkpoints";
      options.checkpoints.interval_ms = 1;
      options.restart = RestartStrategy::fixed_delay(5, 5);
      StreamExecutionEnvironment env(options);
      CsvOptions csv_options;
      if (breaks) csv_options.line_breaks = CsvOptions::LineBreaks::quoted;
      struct Kept {
        std::string symbol;
        double price;
        std::int64_t size;
      };
      const auto kept = from_csv<Trade>(env, "/in/trades.csv", csv_options,
                                        {.split_size_bytes = 4000, .block_size_bytes = 500})
                            .map([&](const Trade& trade) {
                              if (++seen % 1000 == 0 && failures.fetch_sub(1) > 0) {
                                throw std::runtime_error("planned");
                              }
                              return Kept{trade.symbol, trade.price, trade.size};
                            });
      write_csv(kept, "/out");
      const JobResult result = env.execute("restarts");
      ASSERT_TRUE(result.ok()) << result.status.to_string();
      EXPECT_LE(failures.load(), 0);
      std::vector<std::string> lines;
      const auto names = node->files().list_directory("/out");
      ASSERT_TRUE(names.ok());
      for (const std::string& name : *names) {
        if (name.starts_with('.')) continue;
        std::istringstream written(get_file(*node, "/out/" + name));
        std::string line;
        std::getline(written, line);
        EXPECT_EQ(line, "symbol,price,size") << name;
        while (std::getline(written, line)) lines.push_back(line);
      }
      std::sort(lines.begin(), lines.end());
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(lines, expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace hummer::formats::csv_test
