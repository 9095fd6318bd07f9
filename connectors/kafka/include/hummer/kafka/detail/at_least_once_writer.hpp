// AtLeastOnceWriter: sends records as they come, and waits at a barrier until they have arrived.
//
// Lifecycle: restore*, open, (begin_batch add* | flush snapshot | commit)*, end, close.
// Thread: that of the task. State: none.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <hummer/kafka/record.hpp>
#include <hummer/kafka/settings.hpp>
#include <hummer/operator.hpp>

namespace hummer::kafka {
class Producer;
}

namespace hummer::kafka::detail {

class AtLeastOnceWriter {
 public:
  static constexpr bool takes_all_pieces = false;

  explicit AtLeastOnceWriter(const SinkSettings& settings);
  ~AtLeastOnceWriter();

  Status restore(OperatorContext& context, ByteReader& in);
  Status open(OperatorContext& context);
  // What has become of earlier records.
  Status begin_batch();
  // False: not taken, since the queue is full, or for a reason that blocked() knows.
  bool add(const Message& message);
  OperatorResult blocked();
  OperatorResult flush();
  OperatorResult end() { return flush(); }
  static std::vector<StateDescription> states() { return {}; }
  Status snapshot(ByteWriter& out);
  OperatorResult snapshot_rest(ByteWriter&) { return OperatorResult::done; }
  Status commit(std::uint64_t) { return {}; }
  Status close();

 private:
  const SinkSettings settings_;
  OperatorContext* context_ = nullptr;
  std::unique_ptr<Producer> producer_;
  Status failure_;
};

}  // namespace hummer::kafka::detail
