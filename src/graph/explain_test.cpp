#include "graph/explain.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <gtest/gtest.h>

#include "graph/graph_builder_for_test.hpp"

namespace hummer::explain_test {
namespace {

// WordCount on two TaskManagers with one slot each, its exchange on a network of its own.
GraphBuilder networked_word_count() {
  GraphBuilder b = word_count();
  b.graph.edges[2].network = {"eth1", Transport::tcp, 1, 0, 256 * 1024, 8};
  return b;
}

std::string explained(const GraphBuilder& b, ExplainFormat format,
                      std::uint64_t bytes_per_subtask = 0) {
  const Result<JobGraph> job = fuse(b.graph);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  const Cluster cluster{{{"tm0", "alpha", 1, {}}, {"tm1", "", 1, {}}}};
  const Result<ExecutionGraph> execution = place(*job, cluster);
  EXPECT_TRUE(execution.ok()) << execution.status().to_string();
  return explain(b.graph, *job, *execution, format, bytes_per_subtask);
}

TEST(Explain, TextIsForPeople) {
  EXPECT_EQ(explained(networked_word_count(), ExplainFormat::text),
            R"(Job 'wordcount', fingerprint 20dbfbb4f8acde32

Stream graph, as written: 5 operators, 4 edges
  1 from_file: source, bounded, gives text
  2 flat_map: operator, gives text
  3 partial_count: operator, gives tuple<text,i64>
  4 count: operator, stateful, 1024 key groups, uid counts, gives tuple<text,i64>
  5 print: sink
  1 from_file → 2 flat_map: forward, fused
  2 flat_map → 3 partial_count: forward, fused
  3 partial_count → 4 count: hash, not fused: hash exchange
  4 count → 5 print: forward, fused

Job graph, fused: 2 vertices, 1 edge
  v0 from_file → flat_map → partial_count: parallelism unset, uid aa1ede42355be10f
  v1 count → print: parallelism unset, 1..1024, uid counts
  e0 v0 → v1: hash over 1024 key groups; tcp on eth1, 8 credits of 256 KiB, 1 sender slot, receiver shares slot

Execution graph, placed: 12 tasks, 12 channels, slots shared
  v0 from_file → flat_map → partial_count: parallelism 2
  v1 count → print: parallelism 2
  TaskManager tm0 on alpha: 1 of 1 slot used, 1 extra slot for network tasks
    slot 0: v0[0], v1[0], receive e0 0→0, receive e0 1→0
    slot 1 (extra): send e0 0→0, send e0 0→1
  TaskManager tm1: 1 of 1 slot used, 1 extra slot for network tasks
    slot 0: v0[1], v1[1], receive e0 0→1, receive e0 1→1
    slot 1 (extra): send e0 1→0, send e0 1→1
  e0: 4 pairs of subtasks by tcp
)");
}

TEST(Explain, SaysWhichSourceCannotBeReplayed) {
  GraphBuilder b = word_count();
  b.node(1).replayable = false;
  EXPECT_NE(explained(b, ExplainFormat::text)
                .find("1 from_file: source, bounded, cannot be replayed, gives text"),
            std::string::npos);
  EXPECT_NE(explained(b, ExplainFormat::json).find("\"replayable\": false"), std::string::npos);
  EXPECT_NE(explained(b, ExplainFormat::dot).find("source, cannot be replayed"), std::string::npos);
}

// Accepts exactly the JSON documents of RFC 8259 that hold no number but integers.
class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_(text) {}
  bool valid() { return value() && (blanks(), at_ == text_.size()); }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  bool string() {
    if (!take("\"")) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
      if (text_[at_++] != '\\') continue;
      if (at_ == text_.size()) return false;
      const char escaped = text_[at_++];
      if (std::string_view("\"\\/bfnrtu").find(escaped) == std::string_view::npos) return false;
      for (int i = 0; escaped == 'u' && i < 4; ++i, ++at_) {
        if (at_ >= text_.size() || !std::isxdigit(static_cast<unsigned char>(text_[at_]))) {
          return false;
        }
      }
    }
    return take("\"");
  }
  bool number() {
    const std::size_t start = at_;
    take("-");
    const std::size_t digits = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ > digits && at_ > start;
  }
  bool list(char close, bool keyed) {
    blanks();
    if (take(std::string_view(&close, 1))) return true;
    for (;;) {
      blanks();
      if (keyed && !(string() && (blanks(), take(":")))) return false;
      if (!value()) return false;
      blanks();
      if (take(std::string_view(&close, 1))) return true;
      if (!take(",")) return false;
    }
  }
  bool value() {
    blanks();
    if (take("{")) return list('}', true);
    if (take("[")) return list(']', false);
    if (take("true") || take("false") || take("null")) return true;
    return at_ < text_.size() && text_[at_] == '"' ? string() : number();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

TEST(Explain, TheJsonCheckerCanFail) {
  EXPECT_TRUE(JsonChecker(R"({"a": [1, {}, null], "b": "\u00e9"})").valid());
  for (const char* bad : {"", "{", "{\"a\" 1}", "[1,]", "\"\\x\"", "\"a\nb\"", "{} x", "[1 2]"}) {
    EXPECT_FALSE(JsonChecker(bad).valid()) << bad;
  }
}

TEST(Explain, JsonIsValidAndComplete) {
  const std::string json = explained(networked_word_count(), ExplainFormat::json);
  EXPECT_TRUE(JsonChecker(json).valid()) << json;
  for (const char* wanted :
       {"\"stream_graph\"", "\"job_graph\"", "\"execution_graph\"", "\"reason\": \"hash exchange\"",
        "\"interface_or_address\": \"eth1\"", "\"kind\": \"sender\"", "\"transport\": \"tcp\"",
        "\"name\": \"from_file → flat_map → partial_count\"", "\"parallelism\": null"}) {
    EXPECT_NE(json.find(wanted), std::string::npos) << wanted;
  }
}

// Braces balance, strings close, and every edge joins nodes that are declared.
void check_dot(const std::string& dot) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    if (in_string && dot[i] == '\\') {
      ++i;
    } else if (dot[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      depth += (dot[i] == '{') - (dot[i] == '}');
      ASSERT_GE(depth, 0);
    }
  }
  EXPECT_FALSE(in_string);
  EXPECT_EQ(depth, 0);
  std::size_t edges = 0;
  for (std::size_t at = dot.find("\" -> \""); at != std::string::npos;
       at = dot.find("\" -> \"", at + 1), ++edges) {
    const std::size_t from = dot.rfind('"', at - 1);
    const std::size_t to_end = dot.find('"', at + 6);
    const std::string tail = dot.substr(from, at - from + 1);
    const std::string head = dot.substr(at + 5, to_end - at - 4);
    EXPECT_NE(dot.find(tail + " [label="), std::string::npos) << tail;
    EXPECT_NE(dot.find(head + " [label="), std::string::npos) << head;
  }
  EXPECT_GT(edges, 0u);
}

TEST(Explain, DotIsWellFormed) { check_dot(explained(networked_word_count(), ExplainFormat::dot)); }

TEST(Explain, NamesMayHoldAnything) {
  GraphBuilder b = networked_word_count();
  b.graph.job_name = "a \"quoted\" \\ name";
  b.node(2).name = std::string("line\nbreak \x01 } { \xff \xed\xa0\x80 nul") + '\0' + "é";
  const std::string json = explained(b, ExplainFormat::json);
  EXPECT_TRUE(JsonChecker(json).valid());
  EXPECT_NE(json.find(R"(line\u000abreak \u0001 } { \ufffd \ufffd\ufffd\ufffd nul\u0000é)"),
            std::string::npos);
  check_dot(explained(b, ExplainFormat::dot));
  const std::string text = explained(b, ExplainFormat::text);
  EXPECT_EQ(std::count_if(text.begin(), text.end(),
                          [](char c) { return c != '\n' && c >= 0 && c < 0x20; }),
            0);
}

TEST(Explain, FormatsHaveNames) {
  EXPECT_EQ(*parse_explain_format("dot"), ExplainFormat::dot);
  const Status status = parse_explain_format("xml").status();
  EXPECT_EQ(status.code(), ErrorCode::unknown_option);
  EXPECT_EQ(status.message(), "--explain: \"xml\" is no format; choose text, json or dot");
}

TEST(Explain, TextNamesTheRegionsOfBlockingEdges) {
  GraphBuilder b = word_count();
  b.graph.edges[2].network.exchange = ExchangeMode::blocking;
  const std::string text = explained(b, ExplainFormat::text);
  for (const char* const part :
       {"  e0 v0 → v1: hash over 1024 key groups; blocking, through files\n",
        "Regions, each of which begins when those that it reads have finished: 2\n"
        "  region 1: v0\n"
        "  region 2: v1, reads region 1\n",
        "    slot 0: v0[0], v1[0], read e0 →0\n", "  e0: 2 files ahead, 2 readers behind\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
  const std::string json = explained(b, ExplainFormat::json);
  EXPECT_NE(json.find("\"exchange\""), std::string::npos);
  EXPECT_NE(json.find("\"region\""), std::string::npos);
  EXPECT_EQ(explained(word_count(), ExplainFormat::json).find("\"region\""), std::string::npos);
}

TEST(Explain, NamesWhatMayHaveFewerSubtasks) {
  GraphBuilder b = word_count();
  const std::string says = "or less: one for each";
  EXPECT_EQ(explained(b, ExplainFormat::text, 4096).find(says), std::string::npos);
  b.graph.edges[2].network.exchange = ExchangeMode::blocking;
  EXPECT_EQ(explained(b, ExplainFormat::text).find(says), std::string::npos);
  const std::string text = explained(b, ExplainFormat::text, 4096);
  EXPECT_NE(text.find("  v0 from_file → flat_map → partial_count: parallelism 2\n"
                      "  v1 count → print: parallelism 2, or less: one for each 4096 bytes that it "
                      "reads\n"),
            std::string::npos)
      << text;
  const std::string json = explained(b, ExplainFormat::json, 4096);
  const std::size_t found = json.find("\"bytes_per_subtask\"");
  ASSERT_NE(found, std::string::npos);
  EXPECT_EQ(json.find("\"bytes_per_subtask\"", found + 1), std::string::npos) << "of v1 only";
  EXPECT_EQ(explained(b, ExplainFormat::json).find("bytes_per_subtask"), std::string::npos);
}

}  // namespace
}  // namespace hummer::explain_test
