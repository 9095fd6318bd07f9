// GroupReader: records with equal keys of a sorted stream together, as a reducer gets them.
//
//   GroupReader groups(stream, order);
//   for (;;) {
//     Result<bool> more = groups.next_group();
//     if (!more.ok()) return more.status();
//     if (!*more) break;                                       // the end
//     while (groups.next_value()) use(groups.key(), groups.value());
//     HUMMER_TRY(groups.status());                             // why there is no next value
//   }
//
// Values that were not asked for are passed over. key() is that of the group's first record, and
// holds until next_group(); it is copied only where a group goes on in the stream's next span. A
// value, and the whole record that it is of (record()), hold until the next call of next_value().
//
// The order may be coarser than that of the stream, if it agrees with it: for keys of which a part
// decides what is a group, and the rest in which order values come.
//
// Thread: one. `stream` outlives it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <hummer/batch/key_order.hpp>
#include <hummer/batch/record_stream.hpp>

namespace hummer::batch {

class GroupReader {
 public:
  GroupReader(RecordStream& stream, KeyOrder order) : stream_(stream), order_(order) {}
  GroupReader(const GroupReader&) = delete;
  GroupReader& operator=(const GroupReader&) = delete;

  Result<bool> next_group() {
    while (next_value()) {
    }
    HUMMER_TRY(Status(status_));
    if (!is_begun_) {
      is_begun_ = true;
      HUMMER_TRY(read());
    }
    if (rest_.empty()) return false;
    key_ = rest_.front().key();
    is_first_ = true;
    in_group_ = true;
    ++groups_;
    return true;
  }

  // False: the group has ended, or status() is a failure.
  bool next_value() {
    if (!in_group_) return false;
    if (is_first_) {
      is_first_ = false;
    } else {
      rest_ = rest_.subspan(1);
      if (rest_.empty() && !go_on()) return false;
      if (!is_of_group(rest_.front().key())) {
        in_group_ = false;
        return false;
      }
    }
    return true;
  }

  std::string_view key() const { return key_; }
  // REQUIRES: the last next_value() was true.
  std::string_view value() const { return rest_.front().value(); }
  const RecordView& record() const { return rest_.front(); }
  const Status& status() const { return status_; }

  // Groups that were begun, and records that are behind, so far.
  std::uint64_t groups() const { return groups_; }
  std::uint64_t records() const { return read_records_ - rest_.size(); }

 private:
  bool is_of_group(std::string_view key) const {
    if (key.size() == key_.size() &&
        (key.empty() || std::memcmp(key.data(), key_.data(), key.size()) == 0)) {
      return true;
    }
    return order_.compare(key, key_) == 0;
  }

  // The group's next span. False: there is none.
  bool go_on() {
    if (key_.data() != kept_key_.data()) {
      kept_key_.assign(key_);
      key_ = kept_key_;
    }
    status_ = read();
    if (!status_.ok() || rest_.empty()) in_group_ = false;
    return in_group_;
  }

  Status read() {
    auto records = stream_.next();
    if (!records.ok()) return records.status();
    rest_ = *records;
    read_records_ += rest_.size();
    return Status();
  }

  RecordStream& stream_;
  const KeyOrder order_;
  std::span<const RecordView> rest_;  // from the record at hand on
  std::string_view key_;
  std::string kept_key_;
  Status status_;
  std::uint64_t groups_ = 0;
  std::uint64_t read_records_ = 0;
  bool is_begun_ = false;
  bool in_group_ = false;
  bool is_first_ = false;
};

}  // namespace hummer::batch
