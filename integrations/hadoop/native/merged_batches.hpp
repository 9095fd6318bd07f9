// JobMerge: what a handle of hummer.hadoop.NativeMerge stands for: a ShuffleMerge, and its result,
// which goes to Java by the batch, or to a native reducer.
//
// Hadoop looks whether there is a record before it begins a reducer, so PeekedStream does that
// without taking one away.
//
// Thread: as ShuffleMerge says.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "record_batch.hpp"
#include "shuffle_merge.hpp"

namespace hummer::hadoop {

// The result of a merge that has finished.
class PeekedStream final : public batch::RecordStream {
 public:
  explicit PeekedStream(ShuffleMerge& merge) : merge_(merge) {}

  // Whether there is a record; once, before next().
  Result<bool> peek() {
    auto records = merge_.merged().next();
    if (!records.ok()) return records.status();
    peeked_ = *records;
    is_peeked_ = true;
    return !peeked_.empty();
  }
  Result<std::span<const batch::RecordView>> next() override {
    if (std::exchange(is_peeked_, false)) return peeked_;
    return merge_.merged().next();
  }

 private:
  ShuffleMerge& merge_;
  std::span<const batch::RecordView> peeked_;
  bool is_peeked_ = false;
};

struct JobMerge {
  JobMerge(Platform& platform, ShuffleMergeOptions options)
      : merge(platform, std::move(options)), records(merge) {}

  // The next records as a batch, which holds until the next call; empty at the end.
  Result<std::string_view> next_batch() {
    constexpr std::size_t enough_bytes = std::size_t{128} << 10;
    batch.clear();
    while (batch.size() < enough_bytes && !has_ended) {
      const auto span = records.next();
      if (!span.ok()) return span.status();
      has_ended = span->empty();
      for (const batch::RecordView& record : *span) {
        append_head(batch, {0, record.key_bytes, record.value_bytes});
        batch.append(record.key()).append(record.value());
      }
    }
    return std::string_view(batch);
  }

  ShuffleMerge merge;
  PeekedStream records;
  std::string batch = {};
  bool has_ended = false;
};

}  // namespace hummer::hadoop
