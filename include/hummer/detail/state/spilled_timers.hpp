// SpilledTimers: when keys whose state is on disk want to be looked at again, on disk as well.
//
// What is kept of a key is the time of its first timer, as a *wake*. A wake is a hint and nothing
// else: the timers themselves are part of the key's state. Whoever comes to a wake fetches the key,
// which brings its timers along; a key that has come back before, or has another timer now, has
// been woken for nothing. So wakes never have to be taken back.
//
// They lie in a SpilledStore (spilled_store.hpp) in the order of time, then of the key's ordered
// bytes (ordered_key.hpp), and are read in that order, a few at a time. Those that have been passed
// go when runs are merged, or with the last one.
//
// Lifecycle: open() with the operator's context; not moved from then on. Thread: that of the
// operator. Errors: those of the disk, with the operator's name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

namespace hummer {

class SpilledTimers {
 public:
  struct Wake {
    Timestamp time;
    std::string key;  // its ordered bytes
    friend auto operator<=>(const Wake&, const Wake&) = default;
  };

  void open(OperatorContext& context) { context_ = &context; }

  bool empty() const { return !has_next_; }
  // REQUIRES: not empty. Valid until pass() or add().
  const Wake& next() const { return next_; }
  Status pass();
  // Takes them. They may lie before the one that is next.
  Status add(std::vector<Wake> wakes);

  std::size_t memory_bytes() const { return store_ == nullptr ? 0 : store_->memory_bytes(); }
  std::uint64_t disk_bytes() const { return store_ == nullptr ? 0 : store_->disk_bytes(); }

 private:
  OperatorContext* context_ = nullptr;
  std::unique_ptr<SpilledStore> store_;  // null: there has never been any
  std::unique_ptr<SpilledScan> scan_;    // behind next_
  bool has_next_ = false;
  Wake next_;
  Timestamp needed_from_ = 0;  // those before have been passed
};

}  // namespace hummer
