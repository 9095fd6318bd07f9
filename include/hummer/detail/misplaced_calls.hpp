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

#define HUMMER_REFUSED(name)                          \
  template <typename... Named, typename... Arguments> \
  RefusedStream name(const Arguments&...) const {     \
    return {};                                        \
  }

class RefusedStream {
 public:
  template <typename T>
  operator DataStream<T>() const;

  HUMMER_REFUSED(map)
  HUMMER_REFUSED(filter)
  HUMMER_REFUSED(flat_map)
  HUMMER_REFUSED(async_map)
  HUMMER_REFUSED(process)
  HUMMER_REFUSED(side_output)
  HUMMER_REFUSED(assign_timestamps)
  HUMMER_REFUSED(window_all)
  HUMMER_REFUSED(union_with)
  HUMMER_REFUSED(connect)
  HUMMER_REFUSED(key_by)
  HUMMER_REFUSED(rebalance)
  HUMMER_REFUSED(broadcast)
  HUMMER_REFUSED(forward)
  HUMMER_REFUSED(network)
  HUMMER_REFUSED(print)
  HUMMER_REFUSED(write_file)
  HUMMER_REFUSED(for_each)
  HUMMER_REFUSED(add_sink)
  HUMMER_REFUSED(transform)
  HUMMER_REFUSED(owned)
  HUMMER_REFUSED(name)
  HUMMER_REFUSED(uid)
  HUMMER_REFUSED(parallelism)
  HUMMER_REFUSED(min_parallelism)
  HUMMER_REFUSED(max_parallelism)
  HUMMER_REFUSED(resource_group)
  HUMMER_REFUSED(disable_chaining)
  HUMMER_REFUSED(start_new_chain)
  HUMMER_REFUSED(on_failure)
  HUMMER_REFUSED(count)
  HUMMER_REFUSED(sum)
  HUMMER_REFUSED(min)
  HUMMER_REFUSED(max)
  HUMMER_REFUSED(reduce)
  HUMMER_REFUSED(aggregate)
  HUMMER_REFUSED(window)
  HUMMER_REFUSED(deduplicate)
  HUMMER_REFUSED(top_n)
  HUMMER_REFUSED(join)
  HUMMER_REFUSED(co_group)
  HUMMER_REFUSED(interval_join)
  HUMMER_REFUSED(allowed_lateness)
  HUMMER_REFUSED(late_output)
  HUMMER_REFUSED(trigger)
  HUMMER_REFUSED(strategy)
  HUMMER_REFUSED(between)
  HUMMER_REFUSED(apply)
};

#undef HUMMER_REFUSED

enum class StreamCall {
  count,
  sum,
  min,
  max,
  reduce,
  aggregate,
  window,
  deduplicate,
  top_n,
  join,
  co_group,
  interval_join,
  map,
  filter,
  flat_map,
  async_map,
  assign_timestamps,
  union_with,
  print,
  write_file,
  for_each,
  add_sink
};

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

// The base of streams without keys.
template <typename Stream>
class CallsOfKeyedStreams {
 public:
  HUMMER_MISPLACED(count, needs_keys)
  HUMMER_MISPLACED(sum, needs_keys)
  HUMMER_MISPLACED(min, needs_keys)
  HUMMER_MISPLACED(max, needs_keys)
  HUMMER_MISPLACED(reduce, needs_keys)
  HUMMER_MISPLACED(aggregate, needs_keys)
  HUMMER_MISPLACED(window, needs_keys)
  HUMMER_MISPLACED(deduplicate, needs_keys)
  HUMMER_MISPLACED(top_n, needs_keys)
  HUMMER_MISPLACED(join, needs_keys)
  HUMMER_MISPLACED(co_group, needs_keys)
  HUMMER_MISPLACED(interval_join, needs_keys)
};

// The base of streams with keys.
template <typename Stream>
class CallsOfUnkeyedStreams {
 public:
  HUMMER_MISPLACED(map, needs_no_keys)
  HUMMER_MISPLACED(filter, needs_no_keys)
  HUMMER_MISPLACED(flat_map, needs_no_keys)
  HUMMER_MISPLACED(async_map, needs_no_keys)
  HUMMER_MISPLACED(assign_timestamps, needs_no_keys)
  HUMMER_MISPLACED(union_with, needs_no_keys)
  HUMMER_MISPLACED(print, needs_no_keys)
  HUMMER_MISPLACED(write_file, needs_no_keys)
  HUMMER_MISPLACED(for_each, needs_no_keys)
  HUMMER_MISPLACED(add_sink, needs_no_keys)
};

#undef HUMMER_MISPLACED

}  // namespace detail
}  // namespace hummer
