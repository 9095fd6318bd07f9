// HarnessCase: what the operator harness runs, with the types erased.
//
// Records are kept encoded (Codec), so that each schedule makes fresh batches of
// them: the views of a record then point into a buffer of that batch, which the
// harness can spoil once it is released. Built by OperatorHarness<In> and
// SourceHarness; run in src/operators/.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/view_check.hpp>
#include <hummer/detail/testing/describe_value.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/operator.hpp>

namespace hummer {

struct HarnessOptions {
  FakeOperatorContext::Place place;
  // Snapshot, new operator, restore between any two elements.
  bool with_snapshots = true;
  // The operator's snapshot is empty of what flush() emits: no snapshot without a flush.
  bool state_only_by_flush = false;
  // Most records that one input record gives; 0: as measured. Output beyond the soft limit
  // by more is reported.
  std::size_t expansion_max = 0;
  // Most records that a call other than process puts out at once (a user's hook that
  // cannot be interrupted).
  std::size_t control_expansion_max = 1;
  // Splits and interruptions are tried at no more positions than this.
  std::size_t positions_max = 32;
  // Two inputs: the expected output holds for every order between the records of the two inputs
  // from one watermark to the next, and those orders are run too.
  bool any_interleaving = false;
  // Time that passes before each element, for operators with processing time.
  std::int64_t element_nanoseconds = 0;
  // Sources: enough of an endless stream.
  std::size_t records_max = SIZE_MAX;
};

struct HarnessElement {
  enum class Kind { record, watermark, idle, inactive };
  Kind kind = Kind::record;
  Timestamp time = no_timestamp;
  std::string encoded;
  const std::string* origin = nullptr;  // of a TextBlock, which its codec leaves behind
  int input = 0;
};

// One entry of an output, expected or seen.
struct HarnessItem {
  bool is_watermark = false;
  std::string encoded;
  Timestamp time = no_timestamp;
  friend auto operator<=>(const HarnessItem&, const HarnessItem&) = default;
};

struct HarnessPort {
  const TypeDescriptor* type = nullptr;  // null: nothing is expected here
  bool ordered = true;
  std::vector<HarnessItem> expected;
  std::function<void(std::vector<std::string>&)> normalise;
  std::string (*print)(const std::string& encoded) = nullptr;
  Status (*check_views)(const Batch& batch, std::size_t first) = nullptr;
};

struct HarnessEffects {
  std::function<void()> reset;
  std::function<std::vector<std::string>()> read;
  std::vector<std::string> expected;
};

struct HarnessCase {
  std::shared_ptr<const OperatorFactory> factory;
  const TypeDescriptor* input_type = nullptr;         // null: a source
  const TypeDescriptor* second_input_type = nullptr;  // null: one input
  std::vector<HarnessElement> elements;
  std::vector<HarnessPort> ports;
  HarnessOptions options;
  HarnessEffects effects;
  std::string expected_failure;  // empty: the operator must not fail

  HarnessPort& port(std::size_t index) {
    if (ports.size() <= index) ports.resize(index + 1);
    return ports[index];
  }
};

// What came of it. `text` says under which schedule the first difference came, and which.
class HarnessReport {
 public:
  HarnessReport() = default;
  HarnessReport(std::size_t schedules, std::string text)
      : schedules_(schedules), text_(std::move(text)) {}

  bool ok() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  std::size_t schedules() const { return schedules_; }
  Status status() const { return ok() ? Status() : Status(ErrorCode::operator_failed, text_); }

 private:
  std::size_t schedules_ = 0;
  std::string text_;
};

HarnessReport run_operator_harness(const HarnessCase& test);
HarnessReport run_source_harness(const HarnessCase& test);

namespace detail {

template <typename T>
std::string encode_value(const T& value) {
  std::string bytes;
  ByteWriter out(bytes);
  Codec<T>::encode(value, out);
  return std::string(out.view());
}

// REQUIRES: `encoded` outlives the value when T holds views.
template <typename T>
T decode_value(const std::string& encoded) {
  T value{};
  ByteReader in(encoded);
  HUMMER_ASSERT(Codec<T>::decode(in, value));
  return value;
}

}  // namespace detail

// Says what is expected of one output port.
template <typename T>
class ExpectedOutput {
 public:
  explicit ExpectedOutput(HarnessPort& port) : port_(&port) {
    port.type = &type_of<T>();
    port.print = [](const std::string& encoded) {
      return describe_value(detail::decode_value<T>(encoded));
    };
    port.check_views = &check_views<T>;
  }

  ExpectedOutput& record(const T& value, Timestamp time = no_timestamp) {
    port_->expected.push_back({false, detail::encode_value(value), time});
    return *this;
  }
  ExpectedOutput& records(const std::vector<T>& values) {
    for (const T& value : values) record(value);
    return *this;
  }
  // Optional: once one is named, all must come, each at its place. `unordered` then means: within
  // the records between two watermarks.
  ExpectedOutput& watermark(Timestamp time) {
    port_->expected.push_back({true, {}, time});
    return *this;
  }
  ExpectedOutput& unordered() {
    port_->ordered = false;
    return *this;
  }
  // Applied to the records seen (between two watermarks) before they are compared: for
  // operators whose partial results depend on where epochs end, such as "add up by key".
  ExpectedOutput& normalise(std::function<std::vector<T>(std::vector<T>)> function) {
    port_->normalise = [function](std::vector<std::string>& encoded) {
      std::vector<T> values;
      for (const std::string& one : encoded) values.push_back(detail::decode_value<T>(one));
      std::vector<std::string> result;
      for (const T& value : function(std::move(values))) {
        result.push_back(detail::encode_value(value));
      }
      encoded = std::move(result);
    };
    return *this;
  }

 private:
  HarnessPort* port_;
};

}  // namespace hummer
