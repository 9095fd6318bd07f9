// Calls that a stream has not, but that are easily written on it, and what is said of them; and
// RefusedStream, which a refused call answers.
//
// One mistake, one error: what follows in the chain takes a RefusedStream as it comes.
#pragma once

#include <hummer/record_type.hpp>

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

#define HUMMER_MISPLACED(name, cure)                             \
  template <typename... Named, typename... Arguments>            \
  RefusedStream name(const Arguments&...) const {                \
    static_assert(never<Stream, Arguments...>, #name ": " cure); \
    return {};                                                   \
  }

// The base of streams without keys.
template <typename Stream>
class CallsOfKeyedStreams {
 public:
  HUMMER_MISPLACED(count, "the stream has no keys: put key_by(...) in front, or window_all(...)")
  HUMMER_MISPLACED(sum, "the stream has no keys: put key_by(...) in front, or window_all(...)")
  HUMMER_MISPLACED(min, "the stream has no keys: put key_by(...) in front, or window_all(...)")
  HUMMER_MISPLACED(max, "the stream has no keys: put key_by(...) in front, or window_all(...)")
  HUMMER_MISPLACED(reduce, "the stream has no keys: put key_by(...) in front, or window_all(...)")
  HUMMER_MISPLACED(aggregate,
                   "the stream has no keys: put key_by(...) in front, or window_all(...)")
  HUMMER_MISPLACED(window,
                   "the stream has no keys: put key_by(...) in front, or use window_all(...)")
  HUMMER_MISPLACED(deduplicate, "the stream has no keys: put key_by(...) in front")
  HUMMER_MISPLACED(top_n, "the stream has no keys: put key_by(...) in front")
  HUMMER_MISPLACED(join, "the stream has no keys: put key_by(...) in front of both sides")
  HUMMER_MISPLACED(co_group, "the stream has no keys: put key_by(...) in front of both sides")
  HUMMER_MISPLACED(interval_join, "the stream has no keys: put key_by(...) in front of both sides")
};

// The base of streams with keys.
template <typename Stream>
class CallsOfUnkeyedStreams {
 public:
  HUMMER_MISPLACED(map, "a stream with keys has no map: put it in front of key_by(...)")
  HUMMER_MISPLACED(filter, "a stream with keys has no filter: put it in front of key_by(...)")
  HUMMER_MISPLACED(flat_map, "a stream with keys has no flat_map: put it in front of key_by(...)")
  HUMMER_MISPLACED(print, "a stream with keys has no sinks: aggregate or process it first")
  HUMMER_MISPLACED(write_file, "a stream with keys has no sinks: aggregate or process it first")
  HUMMER_MISPLACED(for_each, "a stream with keys has no sinks: aggregate or process it first")
  HUMMER_MISPLACED(add_sink, "a stream with keys has no sinks: aggregate or process it first")
  HUMMER_MISPLACED(assign_timestamps,
                   "a stream with keys has no timestamps to assign: put it in front of key_by(...)")
};

#undef HUMMER_MISPLACED

}  // namespace detail
}  // namespace hummer
