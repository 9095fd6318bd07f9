// Deduplicate<T>: the first record of each key, as a function with keyed state.
//
// With `ttl_ms` a key is forgotten that many milliseconds of processing time after
// its last record, so that state stays bounded. Cost: a byte and a table entry per key.
#pragma once

#include <hummer/keyed_output.hpp>
#include <hummer/keyed_states.hpp>

namespace hummer {

template <typename T>
class Deduplicate {
 public:
  explicit Deduplicate(std::int64_t ttl_ms)
      : seen_("seen", {.ttl_ms = ttl_ms, .ttl_update = TtlUpdate::on_read_and_write}) {}

  void process(const T& record, KeyedOutput<T>& out) {
    if (seen_.has_value()) return;
    seen_.set(true);
    out.emit(record);
  }
  auto states() { return hummer::states(seen_); }

 private:
  ValueState<bool> seen_;
};

}  // namespace hummer
