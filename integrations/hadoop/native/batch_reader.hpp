// BatchReader: records that Java hands over by the batch (record_batch.hpp), as a RecordReader; of
// keys and values it gives the contents.
//
//   reader.set_batch(records);      // then next() until it is empty: that batch has ended
//
// Thread: one. The batch outlives its views.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/batch/record_reader.hpp>

#include "writable_form.hpp"

namespace hummer::hadoop {

class BatchReader final : public batch::RecordReader {
 public:
  explicit BatchReader(RecordForms forms) : forms_(forms) {}

  Status set_batch(std::string_view records);

  Status open(std::unique_ptr<batch::SplitInput>) override { return Status(); }
  Result<std::span<const batch::RecordView>> next() override;
  std::string place_of(const batch::RecordView& record) const override;
  std::uint64_t bytes_read() const override { return 0; }

 private:
  const RecordForms forms_;
  std::vector<batch::RecordView> views_;
  std::uint64_t records_before_ = 0;  // in earlier batches
  bool is_read_ = true;
};

}  // namespace hummer::hadoop
