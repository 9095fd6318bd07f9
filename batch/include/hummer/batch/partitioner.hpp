// Partitioner: which reduce task gets a record.
//
//   class ByFirstByte final : public Partitioner {
//    public:
//     Status partition(std::span<const RecordView> records, std::uint32_t partitions,
//                      std::span<std::uint32_t> into) override {
//       for (std::size_t i = 0; i < records.size(); ++i) {
//         into[i] = static_cast<unsigned char>(records[i].key().front()) % partitions;
//       }
//       return Status();
//     }
//   };
//
// It must say the same of equal keys, and a number below `partitions`. By default it is
// HashPartitioner. Each map task has one of its own. Errors: as those of a mapper.
//
// TotalOrderPartitioner deals by cut points, so that all keys of a partition are in front of those
// of the next one, and the output files one behind the other are sorted as a whole.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/batch/key_order.hpp>
#include <hummer/batch/record_stream.hpp>
#include <hummer/batch/task_context.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

class Partitioner {
 public:
  virtual ~Partitioner() = default;
  virtual Status open(TaskContext& /*context*/) { return Status(); }
  // `into` is as long as `records`.
  virtual Status partition(std::span<const RecordView> records, std::uint32_t partitions,
                           std::span<std::uint32_t> into) = 0;
};

// By a hash of all bytes of the key.
class HashPartitioner final : public Partitioner {
 public:
  Status partition(std::span<const RecordView> records, std::uint32_t partitions,
                   std::span<std::uint32_t> into) override;
};

// Keys that begin a partition, but for the first: one less than there are partitions, in order.
struct CutPoints {
  KeyOrder order;
  std::vector<std::string> keys;
};

// Cut points that part `sample` into `partitions` of about as many keys each.
CutPoints cut_points_of(std::vector<std::string> sample, KeyOrder order, std::uint32_t partitions);

class TotalOrderPartitioner final : public Partitioner {
 public:
  explicit TotalOrderPartitioner(std::shared_ptr<const CutPoints> cut_points);
  // invalid_argument where the number of cut points is another one.
  Status partition(std::span<const RecordView> records, std::uint32_t partitions,
                   std::span<std::uint32_t> into) override;

 private:
  const std::shared_ptr<const CutPoints> cut_points_;
  std::vector<std::uint64_t> prefixes_;  // of the cut points
};

}  // namespace hummer::batch
