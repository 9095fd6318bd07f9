// Calls that a stream has not, but that are easily written on it, and what is said of them; and
// RefusedStream, which a refused call answers.
//
// One mistake, one error: what follows in the chain takes a RefusedStream as it comes.
#pragma once

#include <hummer/detail/record_type.hpp>

namespace hummer {

template <typename T>
class DataStream;

namespace detail {

// The calls of streams with keys, those of streams without, and those of both.
// clang-format off
#define HUMMER_KEYED_CALLS(X)                                                       \
  X(count) X(sum) X(min) X(max) X(reduce) X(aggregate) X(window) X(deduplicate)     \
  X(top_n) X(join) X(co_group) X(interval_join)
#define HUMMER_UNKEYED_CALLS(X)                                                     \
  X(map) X(filter) X(flat_map) X(async_map) X(assign_timestamps) X(union_with)      \
  X(print) X(write_file) X(for_each) X(add_sink) X(sort) X(sort_partition)          \
  X(group_by)
#define HUMMER_OTHER_CALLS(X)                                                       \
  X(process) X(side_output) X(window_all) X(connect) X(key_by) X(rebalance)         \
  X(broadcast) X(forward) X(network) X(transform) X(owned) X(name) X(uid)           \
  X(parallelism) X(min_parallelism) X(max_parallelism) X(resource_group)            \
  X(disable_chaining) X(start_new_chain) X(on_failure) X(allowed_lateness)          \
  X(late_output) X(trigger) X(strategy) X(between) X(apply) X(inner) X(left_outer)  \
  X(right_outer) X(full_outer) X(reduce_group) X(partition_custom)
// clang-format on

#define HUMMER_REFUSED(name)                          \
  template <typename... Named, typename... Arguments> \
  RefusedStream name(const Arguments&...) const {     \
    return {};                                        \
  }
class RefusedStream {
 public:
  template <typename T>
  operator DataStream<T>() const;

  HUMMER_KEYED_CALLS(HUMMER_REFUSED)
  HUMMER_UNKEYED_CALLS(HUMMER_REFUSED)
  HUMMER_OTHER_CALLS(HUMMER_REFUSED)
};
#undef HUMMER_REFUSED

#define HUMMER_NAME(name) name,
enum class StreamCall { HUMMER_KEYED_CALLS(HUMMER_NAME) HUMMER_UNKEYED_CALLS(HUMMER_NAME) };
#undef HUMMER_NAME

template <typename Stream, StreamCall call>
RefusedStream needs_keys() {
  static_assert(never<Stream>,
                "this call is of streams with keys: put key_by(...) in front of it (or "
                "window_all(...), where all records are aggregated together)");
  return {};
}
template <typename Stream, StreamCall call>
RefusedStream needs_no_keys() {
  static_assert(never<Stream>,
                "this call is of streams without keys: put it in front of key_by(...), or behind "
                "what is done by key, such as count() or process(...)");
  return {};
}

#define HUMMER_MISPLACED(name, refused)               \
  template <typename... Named, typename... Arguments> \
  RefusedStream name(const Arguments&...) const {     \
    return refused<Stream, StreamCall::name>();       \
  }
#define HUMMER_NEEDS_KEYS(name) HUMMER_MISPLACED(name, needs_keys)
#define HUMMER_NEEDS_NO_KEYS(name) HUMMER_MISPLACED(name, needs_no_keys)
// The base of streams without keys.
template <typename Stream>
class CallsOfKeyedStreams {
 public:
  HUMMER_KEYED_CALLS(HUMMER_NEEDS_KEYS)
};
// The base of streams with keys.
template <typename Stream>
class CallsOfUnkeyedStreams {
 public:
  HUMMER_UNKEYED_CALLS(HUMMER_NEEDS_NO_KEYS)
};
#undef HUMMER_NEEDS_NO_KEYS
#undef HUMMER_NEEDS_KEYS
#undef HUMMER_MISPLACED
#undef HUMMER_OTHER_CALLS
#undef HUMMER_UNKEYED_CALLS
#undef HUMMER_KEYED_CALLS

}  // namespace detail
}  // namespace hummer
