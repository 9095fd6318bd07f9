// OperatorHarness: runs an operator under every awkward schedule.
//
//   OperatorHarness<int> harness(make_operator_factory([] { ... }));
//   harness.record(1).record(2, 100).watermark(100).idle();
//   harness.output<int>().records({10, 20});
//   HarnessReport report = harness.run();
//   EXPECT_TRUE(report.ok()) << report.text();
//
// The end of the stream follows the last element by itself. The same input is
// run again and again, each time on a new operator, and each time the output must
// be the expected one:
//
//   output limit   1, 2, 3 and the default
//   input          one record per batch, all in one, split at each position;
//                  batches owned alone (their values are spoiled afterwards) and
//                  shared with somebody (their values must not change)
//   output         taken after every call, or only after `more`
//   pauses         time passes before a call is made again with the same arguments
//   between        idle, flush, snapshot → new operator → restore, at each
//                  position and at all of them
//   snapshots      before every element, in the smallest steps, one behind each call; where
//                  the operator writes deltas, as deltas; before one element it fails and
//                  another is restored, after the rest of the snapshot was written while
//                  it ran ahead
//
// It also reports what the contract (operator.hpp) forbids: `done` with records
// left, a position that moves back, output beyond the limit by more than one
// record's expansion, `more` or `blocked` for ever, records late behind a
// watermark that only waited in the operator, output after the end, a shared
// batch that was written to, views that point into memory which nobody keeps:
// released input is overwritten with 0xDD.
//
// The idea is that of Hazelcast Jet's TestSupport. No test framework is needed.
//
// Thread: one. Cost: a few hundred runs for ten elements; keep inputs short.
#pragma once

#include <hummer/detail/testing/harness_case.hpp>

namespace hummer {

template <StreamType In>
class OperatorHarness {
 public:
  explicit OperatorHarness(std::shared_ptr<const OperatorFactory> factory) {
    test_.factory = std::move(factory);
    test_.input_type = &type_of<In>();
  }

  OperatorHarness& record(const In& value, Timestamp time = no_timestamp) {
    HarnessElement element{HarnessElement::Kind::record, time, detail::encode_value(value)};
    if constexpr (std::is_same_v<In, TextBlock>) element.origin = value.origin;
    test_.elements.push_back(std::move(element));
    return *this;
  }
  OperatorHarness& records(const std::vector<In>& values) {
    for (const auto& value : values) record(value);
    return *this;
  }
  OperatorHarness& watermark(Timestamp time) {
    test_.elements.push_back({HarnessElement::Kind::watermark, time, {}});
    return *this;
  }
  OperatorHarness& idle() {
    test_.elements.push_back({HarnessElement::Kind::idle, no_timestamp, {}});
    return *this;
  }

  OperatorHarness& inactive() {
    test_.elements.push_back({HarnessElement::Kind::inactive, no_timestamp, {}});
    return *this;
  }

  // A port of which nothing is said must stay empty.
  template <StreamType Out>
  ExpectedOutput<Out> output(std::size_t port = 0) {
    return ExpectedOutput<Out>(test_.port(port));
  }
  // For sinks: `reset` before each run, `read` after it.
  OperatorHarness& effects(std::function<void()> reset,
                           std::function<std::vector<std::string>()> read,
                           std::vector<std::string> expected) {
    test_.effects = {std::move(reset), std::move(read), std::move(expected)};
    return *this;
  }
  // Every run must fail with a message that contains `text`, after the expected output. Messages
  // read "name: position: what was thrown", or "name: what context().fail was told". Where the
  // operator knows no position it is "record N", counted from 0 over the whole input.
  OperatorHarness& expect_failure(std::string text) {
    test_.expected_failure = std::move(text);
    return *this;
  }
  HarnessOptions& options() { return test_.options; }

  HarnessReport run() const { return run_operator_harness(test_); }

 protected:
  HarnessCase test_;
};

// The same for an operator with two inputs, of any types: records of the second come by
// second(). With options().any_interleaving all schedules are run for other orders between the
// two inputs as well; the expected output must not depend on them.
template <StreamType First, StreamType Second>
class TwoInputHarness : public OperatorHarness<First> {
 public:
  explicit TwoInputHarness(std::shared_ptr<const OperatorFactory> factory)
      : OperatorHarness<First>(std::move(factory)) {
    this->test_.second_input_type = &type_of<Second>();
  }
  TwoInputHarness& first(const First& value, Timestamp time = no_timestamp) {
    this->record(value, time);
    return *this;
  }
  TwoInputHarness& second(const Second& value, Timestamp time = no_timestamp) {
    this->test_.elements.push_back(
        {HarnessElement::Kind::record, time, detail::encode_value(value), nullptr, 1});
    return *this;
  }
  TwoInputHarness& watermark(Timestamp time) {
    OperatorHarness<First>::watermark(time);
    return *this;
  }
  TwoInputHarness& idle() {
    OperatorHarness<First>::idle();
    return *this;
  }
};

// The same for a source: output limits, pauses, and snapshot → new source →
// restore after each call. Watermarks are compared when the expectation names any.
class SourceHarness {
 public:
  explicit SourceHarness(std::shared_ptr<const OperatorFactory> factory) {
    test_.factory = std::move(factory);
  }

  template <StreamType Out>
  ExpectedOutput<Out> output(std::size_t port = 0) {
    return ExpectedOutput<Out>(test_.port(port));
  }
  SourceHarness& expect_failure(std::string text) {
    test_.expected_failure = std::move(text);
    return *this;
  }
  HarnessOptions& options() { return test_.options; }

  HarnessReport run() const { return run_source_harness(test_); }

 private:
  HarnessCase test_;
};

}  // namespace hummer
