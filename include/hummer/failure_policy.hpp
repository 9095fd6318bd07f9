// FailurePolicy: what becomes of a record for which the function of its operator throws.
//
//   constexpr SideOutput<FailedRecord<std::string_view>> bad{"bad lines"};
//   const auto orders = env.from_file(path).map(parse).on_failure(failures_to(bad));
//   orders.side_output(bad).write_file("bad");
//
//   fail_job()         the job fails, with the record's position (E3000); so it is without a policy
//   skip_failures()    the record is left out and counted (OperatorSummary::records_skipped)
//   failures_to(tag)   the same, and it goes to the side output `tag` of the operator's stream,
//                      with its position, the exception's text and the attempt of the job
//
// A policy is a setting of the operator that made the stream, as its name is. It is about what a
// function throws when it is called for a record: map, filter, flat_map on records or on lines,
// process and keyed process, assign_timestamps, for_each; any other operator refuses it (E2000).
// Let a map in front do what may fail in the others, and in the function of a key. A hook that is
// called for no record (open, on_timer, end) fails the job all the same. What the function has done
// before it threw, such as what it put out or wrote to its state, stays done.
//
// Cost: nothing for a record that does not fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/operator.hpp>
#include <hummer/side_output.hpp>
#include <hummer/text.hpp>

namespace hummer {

template <typename T>
struct FailedRecord {
  T record;
  std::string position;   // "logs/may.txt, line 12 (byte 345)", or "record 7 of its input"
  std::string reason;     // the exception's text
  std::uint32_t attempt;  // how often the job was started before
};

struct FailurePolicy {
  // Where and why; `text`: of the line, where the record is part of a block of text.
  struct Failure {
    std::string_view text;
    std::string position;
    std::string reason;
    std::uint32_t attempt = 0;
  };

  bool skips = false;
  SideOutputPort output = {{}, nullptr};   // null: none
  const TypeDescriptor* record = nullptr;  // what the side output's records hold
  // The record `at` of `in`, as one of `output`.
  void (*put)(const Batch& in, std::size_t at, Failure failure, Batch& out) = nullptr;

  // Behind the operator's own ports, of which a sink has none, not even a main one.
  void declare(Output& out) const {
    if (output.type == nullptr) return;
    if (out.port_count() == 0) out.add_port(*output.type);
    out.add_port(*output.type);
  }
};

inline FailurePolicy fail_job() { return {}; }
inline FailurePolicy skip_failures() { return {.skips = true}; }

template <typename T>
FailurePolicy failures_to(const SideOutput<FailedRecord<T>>& tag) {
  static_assert(std::is_copy_constructible_v<T>, "a record that fails is copied");
  FailurePolicy policy;
  policy.skips = true;
  policy.output = {tag.name, &type_of<FailedRecord<T>>()};
  policy.record = &type_of<T>();
  policy.put = [](const Batch& in, std::size_t at, FailurePolicy::Failure failure, Batch& out) {
    const auto append = [&](const T& record) {
      const std::size_t before = out.size();
      {
        Collector<FailedRecord<T>> collector(out, out.capacity());
        collector.emit(FailedRecord<T>{record, std::move(failure.position),
                                       std::move(failure.reason), failure.attempt});
      }
      stamp(out, before, before + 1, in.has_timestamps() ? in.timestamps()[at] : no_timestamp);
    };
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (in.type() == type_of<TextBlock>()) return append(failure.text);
    }
    append(in.values<T>()[at]);
  };
  return policy;
}

}  // namespace hummer
