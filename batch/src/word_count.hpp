// WordCount: the words of lines, with how often each is there. A word is a longest run of bytes
// above 0x20, as everywhere (hummer/words.hpp).
//
// Counts are 8 bytes, big-endian, on their way, and decimal in the result.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <hummer/batch/combiner.hpp>
#include <hummer/batch/folder.hpp>
#include <hummer/batch/mapper.hpp>
#include <hummer/batch/reducer.hpp>

#include "batch/big_endian.hpp"

namespace hummer::batch {

class CountBytes {
 public:
  explicit CountBytes(std::uint64_t count) { put_big_endian(bytes_, count); }
  std::string_view view() const { return {bytes_, sizeof bytes_}; }

 private:
  char bytes_[8];
};

// Words go out as views of their lines.
class WordMapper final : public Mapper {
 public:
  Status map(std::span<const RecordView> lines, MapOutput& output) override;

 private:
  void split(std::string_view text, MapOutput& output);
  void emit(MapOutput& output);

  static constexpr std::size_t words_at_once = 512;
  const CountBytes one_{1};
  std::array<std::string_view, words_at_once> found_;
  std::size_t words_ = 0;
};

class SumCombiner final : public Combiner {
 public:
  Status combine(GroupReader& group, RecordBuffer& out) override;
};

class SumReducer final : public GroupedReducer<SumReducer> {
 public:
  Status reduce_group(GroupReader& group, RecordOutput& output);
};

// Of a count on its way; 0 where it has not 8 bytes.
inline std::uint64_t count_in(std::string_view value) {
  return value.size() == sizeof(std::uint64_t) ? big_endian_64(value.data()) : 0;
}

struct Sum {
  std::uint64_t value = 0;
};

class SumFolder final : public StateFolder<SumFolder, Sum> {
 public:
  void fold_record(Sum& sum, const RecordView& record) { sum.value += count_in(record.value()); }
  void emit_state(std::string_view key, const Sum& sum, RecordOutput& output);
  void finish_state(std::string_view key, const Sum& sum, RecordOutput& output);
};

class DecimalText {
 public:
  explicit DecimalText(std::uint64_t number);
  std::string_view view() const { return {digits_, size_}; }

 private:
  char digits_[20] = {};
  std::size_t size_;
};

}  // namespace hummer::batch
