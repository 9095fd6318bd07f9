#include <hummer/detail/state/spilled_timers.hpp>

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

// The store's order is that of hashes, as numbers without a sign.
std::uint64_t place_of(Timestamp time) {
  return static_cast<std::uint64_t>(time) ^ std::uint64_t{1} << 63;
}
Timestamp time_at(std::uint64_t place) {
  return static_cast<Timestamp>(place ^ std::uint64_t{1} << 63);
}

}  // namespace

Status SpilledTimers::pass() {
  const Result<bool> found = scan_->next();
  if (!found.ok()) return found.status();
  has_next_ = *found;
  if (has_next_) {
    next_.time = time_at(scan_->entry().hash);
    next_.key = scan_->entry().key;
  } else {
    scan_.reset();
    store_->clear();
  }
  return {};
}

Status SpilledTimers::add(std::vector<Wake> wakes) {
  if (wakes.empty()) return {};
  std::sort(wakes.begin(), wakes.end());
  wakes.erase(std::unique(wakes.begin(), wakes.end()), wakes.end());
  if (store_ == nullptr) {
    // Values are times: of a key that is there twice either is as good. A store that combines
    // keeps no filter, which nobody would ask.
    const auto newer = [](std::string_view, std::string_view value, std::string& both) {
      both = value;
      return true;
    };
    store_ = make_spilled_store(*context_, {.combine = newer,
                                            .end_of =
                                                [](std::string_view value) {
                                                  Timestamp time = 0;
                                                  ByteReader in(value);
                                                  HUMMER_ASSERT(in.get_value(time));
                                                  return time == end_of_time ? time : time + 1;
                                                },
                                            .now = [this] { return needed_from_; }});
  }
  const Wake first = has_next_ ? std::min(next_, wakes.front()) : wakes.front();
  needed_from_ = first.time;
  HUMMER_TRY(store_->begin_run(wakes.size()));
  for (const Wake& wake : wakes) {
    HUMMER_TRY(
        store_->add({.hash = place_of(wake.time),
                     .key = wake.key,
                     .value = {reinterpret_cast<const char*>(&wake.time), sizeof wake.time}}));
  }
  HUMMER_TRY(store_->finish_run());
  Result<std::unique_ptr<SpilledScan>> scan = store_->scan_from(place_of(first.time), first.key);
  if (!scan.ok()) return scan.status();
  scan_ = std::move(*scan);
  return pass();
}

}  // namespace hummer
