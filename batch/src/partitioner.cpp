#include <hummer/batch/partitioner.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hummer/detail/key_hash.hpp>

namespace hummer::batch {

Status HashPartitioner::partition(std::span<const RecordView> records, std::uint32_t partitions,
                                  std::span<std::uint32_t> into) {
  if (partitions == 1) {
    std::fill(into.begin(), into.end(), 0);
    return Status();
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::uint64_t hash = hash_bytes(records[i].key_data, records[i].key_bytes);
    into[i] = static_cast<std::uint32_t>(((hash >> 32) * partitions) >> 32);
  }
  return Status();
}

CutPoints cut_points_of(std::vector<std::string> sample, KeyOrder order, std::uint32_t partitions) {
  std::stable_sort(sample.begin(), sample.end(), [&](const std::string& a, const std::string& b) {
    return order.compare(a, b) < 0;
  });
  CutPoints cut_points{order, {}};
  for (std::uint32_t i = 1; i < partitions; ++i) {
    const std::size_t at = sample.size() * i / partitions;
    cut_points.keys.push_back(at < sample.size() ? sample[at] : std::string());
  }
  return cut_points;
}

TotalOrderPartitioner::TotalOrderPartitioner(std::shared_ptr<const CutPoints> cut_points)
    : cut_points_(std::move(cut_points)) {
  for (const std::string& key : cut_points_->keys) {
    prefixes_.push_back(cut_points_->order.long_prefix(key));
  }
}

Status TotalOrderPartitioner::partition(std::span<const RecordView> records,
                                        std::uint32_t partitions, std::span<std::uint32_t> into) {
  const CutPoints& cut_points = *cut_points_;
  if (cut_points.keys.size() + 1 != partitions) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("{} cut points are for {} partitions, and there are {}",
                              cut_points.keys.size(), cut_points.keys.size() + 1, partitions));
  }
  cut_points.order.visit([&](auto form) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::string_view key = records[i].key();
      const std::uint64_t prefix = form.long_prefix(key);
      const auto [first, last] = std::equal_range(prefixes_.begin(), prefixes_.end(), prefix);
      // Behind the cut points whose prefixes are smaller, and those of an equal one that are not
      // larger.
      auto at = static_cast<std::size_t>(first - prefixes_.begin());
      const auto end = static_cast<std::size_t>(last - prefixes_.begin());
      while (at < end && form.compare(cut_points.keys[at], key) <= 0) ++at;
      into[i] = static_cast<std::uint32_t>(at);
    }
  });
  return Status();
}

}  // namespace hummer::batch
