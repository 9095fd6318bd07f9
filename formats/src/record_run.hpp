// RecordRun: room for records at the end of a batch, of a shape that is known at run time.
//
//   RecordRun run(shape, batch, limit);
//   while (!run.full()) { if (!read(run.next())) return bad; run.keep(); }
//
// Records are made some ahead of their use, so that there is no call per record; those that were
// not kept are dropped at the end, when the batch learns how many there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hummer/batch.hpp>
#include <hummer/formats/record_shape.hpp>

namespace hummer::formats {

class RecordRun {
 public:
  static constexpr std::size_t made_at_once = 64;

  RecordRun(const RecordShape& shape, Batch& batch, std::size_t limit)
      : shape_(shape), batch_(batch), limit_(limit), kept_(batch.size()), made_(kept_) {
    batch.reserve(static_cast<std::uint32_t>(limit));
    records_ = static_cast<char*>(batch.raw_mutable_values());
  }
  ~RecordRun() {
    shape_.destroy(records_ + kept_ * shape_.size_bytes, made_ - kept_);
    batch_.set_size(kept_);
  }
  RecordRun(const RecordRun&) = delete;
  RecordRun& operator=(const RecordRun&) = delete;

  bool full() const { return kept_ >= limit_; }
  std::size_t room() const { return limit_ - std::min(kept_, limit_); }
  // The next one, as its initialisers have it. REQUIRES: !full()
  char* next() {
    char* const record = records_ + kept_ * shape_.size_bytes;
    if (kept_ == made_) {
      const std::size_t count = std::min(made_at_once, limit_ - made_);
      shape_.construct(record, count);
      made_ += count;
    }
    return record;
  }
  void keep() { ++kept_; }

 private:
  const RecordShape& shape_;
  Batch& batch_;
  const std::size_t limit_;
  std::size_t kept_;
  std::size_t made_;
  char* records_ = nullptr;
};

}  // namespace hummer::formats
