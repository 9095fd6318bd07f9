#include "tera_validation.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "batch/crc32.hpp"
#include "fixed_reader.hpp"
#include "input_splits.hpp"
#include "task_threads.hpp"
#include "tera_rows.hpp"

namespace hummer::batch {
namespace {

constexpr std::uint64_t validated_split_bytes = std::uint64_t{64} << 20;

struct SplitValidation {
  std::uint64_t records = 0;
  std::uint64_t checksum = 0;
  std::uint64_t out_of_order = 0;
  std::string first_out_of_order;
  std::string first_key;
  std::string last_key;
};

Result<SplitValidation> validate_split(Platform& platform, const InputSplit& split,
                                       const std::atomic<bool>& is_stopping) {
  auto input = open_split(platform.files(), split);
  if (!input.ok()) return input.status();
  FixedReader reader(tera_key_bytes, tera_value_bytes);
  HUMMER_TRY(reader.open(std::move(*input)));
  SplitValidation found;
  for (;;) {
    if (is_stopping.load(std::memory_order_relaxed)) {
      return Status(ErrorCode::cancelled, "the validation was stopped");
    }
    const auto records = reader.next();
    if (!records.ok()) return records.status();
    if (records->empty()) return found;
    if (found.records == 0) found.first_key = records->front().key();
    std::string_view last = found.last_key;
    for (const RecordView& record : *records) {
      if (record.key() < last) {
        if (found.out_of_order++ == 0) found.first_out_of_order = reader.place_of(record);
      }
      last = record.key();
      found.checksum += crc32_after(0, {record.key_data, tera_record_bytes});
    }
    found.last_key = std::string(last);
    found.records += records->size();
  }
}

}  // namespace

Result<TeraValidation> validate_tera(Platform& platform, const std::vector<std::string>& paths,
                                     std::uint32_t threads, const JobControl& control) {
  const auto splits =
      plan_splits(platform.files(), paths, fixed_input(tera_key_bytes, tera_value_bytes),
                  validated_split_bytes, threads);
  if (!splits.ok()) return splits.status();
  std::vector<SplitValidation> found(splits->size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> is_stopping{false};
  std::mutex mutex;
  Status failure;
  run_on_threads(
      platform, std::min<std::size_t>(threads, splits->size()),
      [&](std::size_t) {
        for (;;) {
          const std::size_t at = next.fetch_add(1, std::memory_order_relaxed);
          if (at >= splits->size()) return;
          auto validated = validate_split(platform, (*splits)[at], is_stopping);
          const std::lock_guard lock(mutex);
          if (validated.ok()) {
            found[at] = std::move(*validated);
            continue;
          }
          if (failure.ok()) failure = validated.status();
          is_stopping.store(true, std::memory_order_relaxed);
          return;
        }
      },
      [&] {
        if (control.stop_asked && control.stop_asked()) {
          is_stopping.store(true, std::memory_order_relaxed);
        }
      },
      seconds(1));
  HUMMER_TRY(Status(failure));
  TeraValidation all;
  std::string last;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const SplitValidation& part = found[i];
    if (i == 0 || (*splits)[i].path != (*splits)[i - 1].path) ++all.files;
    all.records += part.records;
    all.checksum += part.checksum;
    std::string first_place = part.first_out_of_order;
    if (part.records > 0 && part.first_key < last) {
      ++all.out_of_order;
      first_place =
          "'" + (*splits)[i].path + "', record at byte " + std::to_string((*splits)[i].begin);
    }
    all.out_of_order += part.out_of_order;
    if (all.first_out_of_order.empty()) all.first_out_of_order = first_place;
    if (part.records > 0) last = part.last_key;
  }
  return all;
}

}  // namespace hummer::batch
