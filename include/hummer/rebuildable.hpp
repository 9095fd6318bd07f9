// CapturedValues: what a user's function object brings with it when a worker builds the job again.
//
// The job function runs on the client and on every worker, so a value that it captures in a lambda
// must be the same everywhere. The engine sees to that without being told where it can: an
// operator's captured values are part of the job graph's fingerprint, and a worker whose values
// differ refuses the job, naming the operator. That needs the values' bytes:
//
//   captures nothing, plain functions, members        nothing to compare
//   integers, enums, bools without padding            the object's bytes
//   an object with a hummer::Codec of its own         its encoding
//   anything else (text, floats, vectors, pointers)   unknown: runs embedded, but a cluster refuses
//                                                     it until it is declared:
//
//   const std::string needle = env.argument("needle");
//   lines.filter(hummer::rebuildable([needle](std::string_view line) { ... }, needle))
//
// The declared values need codecs (strings, numbers, vectors, ... have one). Without values,
// `rebuildable(f)` is a promise: what f captures depends on the job's arguments only.
//
// A captured pointer or reference counts as its address, which differs between processes: such
// a job is refused rather than trusted. Thread: plain data.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/detail/captured_values.hpp>

namespace hummer {

// A function object whose captured values were declared. Still that function object.
template <typename Function>
struct Rebuildable : Function {
  using Declared = Function;
  Rebuildable(Function function, CapturedValues values)
      : Function(std::move(function)), captured_values(values) {}
  CapturedValues captured_values;
};

template <typename Function, typename... Values>
  requires std::is_class_v<Function>
Rebuildable<Function> rebuildable(Function function, const Values&... values) {
  return {
      std::move(function),
      encoded_values(
          static_cast<const std::conditional_t<
              std::is_convertible_v<const Values&, std::string_view>, std::string_view, Values>&>(
              values)...)};
}

}  // namespace hummer
