// Records as tests have them: by value, drawn, as a stream, and read from one. (Tests only.)
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hummer/batch/key_order.hpp>
#include <hummer/batch/record_stream.hpp>
#include "platform/random.hpp"

namespace hummer::batch {

using KeyAndValue = std::pair<std::string, std::string>;
using KeysAndValues = std::vector<KeyAndValue>;

// What is given to it, by spans of so many; it scribbles over what it has handed out, so that
// nobody gets away with reading it later.
class RecordsForTest final : public RecordStream {
 public:
  RecordsForTest(KeysAndValues records, std::size_t span_records, Status end = Status())
      : records_(std::move(records)), span_records_(span_records), end_(std::move(end)) {}

  Result<std::span<const RecordView>> next() override {
    for (std::size_t i = 0; i < views_.size(); ++i) {
      KeyAndValue& gone = records_[at_ - views_.size() + i];
      std::fill(gone.first.begin(), gone.first.end(), '#');
      std::fill(gone.second.begin(), gone.second.end(), '#');
    }
    views_.clear();
    while (at_ < records_.size() && views_.size() < span_records_) {
      const auto& [key, value] = records_[at_++];
      views_.push_back({key.data(), value.data(), static_cast<std::uint32_t>(key.size()),
                        static_cast<std::uint32_t>(value.size())});
    }
    if (views_.empty() && !end_.ok()) return end_;
    return std::span<const RecordView>(views_);
  }

 private:
  KeysAndValues records_;
  const std::size_t span_records_;
  const Status end_;
  std::vector<RecordView> views_;
  std::size_t at_ = 0;
};

inline Status read_all(RecordStream& stream, KeysAndValues& into) {
  for (;;) {
    auto records = stream.next();
    if (!records.ok()) return records.status();
    if (records->empty()) return Status();
    for (const RecordView& record : *records) into.emplace_back(record.key(), record.value());
  }
}

inline void sort_stably(const KeyOrder& order, KeysAndValues& records) {
  std::stable_sort(records.begin(), records.end(), [&](const auto& a, const auto& b) {
    return order.compare(a.first, b.first) < 0;
  });
}

// Kinds of keys that sorts are tried with.
inline constexpr const char* drawn_kinds[] = {
    "random", "all equal", "few distinct", "long prefix", "empty and short", "one to four bytes",
    "sorted", "reversed",  "zeros",        "nested",      "eight bytes"};

inline std::string draw_bytes(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& each : bytes) each = static_cast<char>(random.next());
  return bytes;
}

// The number of the record is its value, so that its place among equal keys shows.
inline KeysAndValues draw_records(Random& random, std::string_view kind, std::size_t count) {
  KeysAndValues records;
  records.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = random.next();
    std::string key;
    if (kind == "random") {
      key = draw_bytes(random, 10);
    } else if (kind == "all equal") {
      key = "the only key there is";
    } else if (kind == "few distinct") {
      key = "key " + std::to_string(drawn % 7);
    } else if (kind == "long prefix") {
      key = std::string(100, 'p') + draw_bytes(random, drawn % 9);
    } else if (kind == "empty and short") {
      key = std::string(drawn % 3, drawn % 5 == 0 ? '\0' : 'a');
    } else if (kind == "one to four bytes") {
      key = draw_bytes(random, 1 + drawn % 4);
    } else if (kind == "sorted") {
      key = std::to_string(1'000'000'000 + i);
    } else if (kind == "reversed") {
      key = std::to_string(1'000'000'000 - i);
    } else if (kind == "zeros") {
      key = std::string(drawn % 40, '\0');
    } else if (kind == "nested") {
      key = std::string(drawn % 300, 'x');
    } else {
      key = draw_bytes(random, 4) + std::string(4, static_cast<char>(drawn % 3));
      if (drawn % 2 == 0) key.replace(0, 4, "same");
    }
    records.emplace_back(std::move(key), std::to_string(i));
  }
  return records;
}

}  // namespace hummer::batch
