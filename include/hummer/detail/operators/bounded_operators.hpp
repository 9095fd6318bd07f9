// Operators over the whole of a bounded input: sorts, groups and equi-joins. What knows the
// records' types and calls the user's functions is a template here; the operators see bytes, and
// are in src/operators/. (Design: docs/design/0020-bounded-operators.md.)
//
// Each takes what comes until its input has ended, keeps to the memory it is given, and spills to
// files without names beyond it. What is behind one sees no watermark before that end. Their state
// is in no checkpoint: execute() refuses a job with one of them and checkpoints, or with a source
// above it that does not end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/operators/record_coding.hpp>
#include <hummer/detail/operators/record_text.hpp>
#include <hummer/operator.hpp>

namespace hummer {

// What makes them, by which execute() knows them.
class BoundedOperatorFactory : public OperatorFactory {};

template <typename Make>
class BoundedFactoryOf final : public BoundedOperatorFactory {
 public:
  explicit BoundedFactoryOf(Make make, std::size_t memory_bytes = std::size_t{1} << 20)
      : make_(std::move(make)), memory_bytes_(memory_bytes) {}
  [[gnu::cold]] std::unique_ptr<Operator> make() const override { return make_(memory_bytes_); }
  std::shared_ptr<const OperatorFactory> planned(const Plan& plan) const override {
    return std::make_shared<const BoundedFactoryOf>(make_, plan.bounded_operator_bytes);
  }

 private:
  Make make_;
  std::size_t memory_bytes_;
};

// make(memory in bytes) → std::unique_ptr<Operator>
template <typename Make>
std::shared_ptr<const OperatorFactory> make_bounded_factory(Make make) {
  return std::make_shared<const BoundedFactoryOf<Make>>(std::move(make));
}

// Emits all records of its input, sorted by their keys, stably.
std::unique_ptr<Operator> make_sort_operator(std::unique_ptr<RecordCoding> coding,
                                             std::size_t memory_bytes);
// One subtask, which makes one sorted stream of the sorted ones of the subtasks ahead.
std::unique_ptr<Operator> make_merge_operator(std::unique_ptr<RecordCoding> coding);

// ---- groups ----

// The records of one key, as bytes, by the block.
class GroupRecords {
 public:
  virtual ~GroupRecords() = default;
  // The next ones; they hold until the next call. Empty: the group has no more.
  virtual std::span<const std::string_view> next() = 0;
};

class GroupFunction {
 public:
  virtual ~GroupFunction() = default;
  virtual const TypeDescriptor& output_type() const = 0;
  virtual void call(GroupRecords& records, Output& out) = 0;
};

std::unique_ptr<Operator> make_group_operator(std::unique_ptr<RecordCoding> coding,
                                              std::unique_ptr<GroupFunction> function,
                                              std::size_t memory_bytes);

// ---- joins ----

enum class JoinKind : std::uint8_t { inner, left_outer, right_outer, full_outer };

// Whether records of a side without a partner are results.
constexpr bool keeps_first(JoinKind kind) {
  return kind == JoinKind::left_outer || kind == JoinKind::full_outer;
}
constexpr bool keeps_second(JoinKind kind) {
  return kind == JoinKind::right_outer || kind == JoinKind::full_outer;
}

// How equal keys are found: automatic is hybrid_hash, which goes over to sorting for what hashing
// can't make smaller.
enum class JoinStrategy : std::uint8_t { automatic, sort_merge, hybrid_hash };

// Two records with equal keys, or one without a partner, as bytes.
struct JoinPair {
  std::string_view first;
  std::string_view second;
  bool has_first = true;
  bool has_second = true;
};

class JoinFunction {
 public:
  virtual ~JoinFunction() = default;
  virtual const TypeDescriptor& output_type() const = 0;
  // One result for each.
  virtual void call(std::span<const JoinPair> pairs, Output& out) = 0;
};

struct JoinParts {
  std::unique_ptr<RecordCoding> first;
  std::unique_ptr<RecordCoding> second;
  std::unique_ptr<JoinFunction> function;
  JoinKind kind = JoinKind::inner;
  JoinStrategy strategy = JoinStrategy::automatic;
};

std::unique_ptr<Operator> make_join_operator(JoinParts parts, std::size_t memory_bytes);

template <typename A, typename B, typename Out, JoinKind kind, typename Function>
class JoinFunctionOf final : public JoinFunction {
 public:
  explicit JoinFunctionOf(Function function) : function_(std::move(function)) {}

  using First = std::conditional_t<keeps_second(kind), const A*, const A&>;
  using Second = std::conditional_t<keeps_first(kind), const B*, const B&>;
  // Text that it returns as std::string is copied where it is put out.
  static constexpr bool may_view_records =
      holds_views<Out> &&
      !std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Function&, First, Second>>,
                      std::string>;

  const TypeDescriptor& output_type() const override { return type_of<Out>(); }

  void call(std::span<const JoinPair> pairs, Output& out) override {
    auto to = out.template collector<Out>();
    std::size_t before = out.batch().size();
    std::string_view of_first;  // whose bytes first_ and second_ were made of
    std::string_view of_second;
    first_.reset();
    second_.reset();
    for (const JoinPair& pair : pairs) {
      if (pair.has_first) take(pair.first, of_first, first_);
      if (pair.has_second) take(pair.second, of_second, second_);
      const A* first = pair.has_first ? &*first_ : nullptr;
      const B* second = pair.has_second ? &*second_ : nullptr;
      to.emit_made([&]() -> decltype(auto) {
        if constexpr (kind == JoinKind::inner) {
          return function_(*first, *second);
        } else if constexpr (kind == JoinKind::left_outer) {
          return function_(*first, second);
        } else if constexpr (kind == JoinKind::right_outer) {
          return function_(first, *second);
        } else {
          return function_(first, second);
        }
      });
      if constexpr (may_view_records) {
        to.commit();
        copy_text_of_gone<Out>(out.batch(), before++);
      }
    }
  }

 private:
  template <typename T>
  static void take(std::string_view bytes, std::string_view& of, std::optional<T>& record) {
    if (record && of.data() == bytes.data() && of.size() == bytes.size()) return;
    detail::decode_record(bytes, record.emplace());
    of = bytes;
  }

  Function function_;
  std::optional<A> first_;
  std::optional<B> second_;
};

}  // namespace hummer
