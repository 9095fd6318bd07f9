#include "key_sample.hpp"

#include <algorithm>
#include <utility>

#include "guarded_call.hpp"
#include "input_splits.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t most_sampled_splits = 20;
constexpr std::uint64_t sampled_split_bytes = std::uint64_t{1} << 20;

Status sample_split(Platform& platform, const Job& job, const InputSplit& split, std::size_t most,
                    std::vector<std::string>& keys) {
  auto input = open_split(platform.files(), split);
  if (!input.ok()) return input.status();
  const std::unique_ptr<RecordReader> reader = job.input_format.make_reader();
  HUMMER_TRY(reader->open(std::move(*input)));
  for (std::size_t left = most; left > 0;) {
    const auto records = reader->next();
    if (!records.ok()) return records.status();
    if (records->empty()) break;
    const std::size_t count = std::min(left, records->size());
    for (const RecordView& record : records->first(count)) keys.emplace_back(record.key());
    left -= count;
  }
  return Status();
}

}  // namespace

Result<std::vector<std::string>> sample_keys(Platform& platform, const Job& job, std::size_t most) {
  const auto splits =
      plan_splits(platform.files(), job.inputs, job.input_format, sampled_split_bytes, 1);
  if (!splits.ok()) return splits.status();
  const std::size_t count = std::min(splits->size(), most_sampled_splits);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    const InputSplit& split = (*splits)[splits->size() * i / count];
    HUMMER_TRY(call_guarded(
        "the reader", [&] { return sample_split(platform, job, split, most / count, keys); }));
  }
  return keys;
}

}  // namespace hummer::batch
