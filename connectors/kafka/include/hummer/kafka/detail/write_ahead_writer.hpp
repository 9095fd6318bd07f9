// WriteAheadWriter: keeps the records of an epoch with their checkpoint, and writes them, each
// epoch in one transaction, which is committed when the checkpoint is complete.
//
// What waits for the brokers is done by a thread of the sink's own: it sends chunks of an epoch
// while the records of it still come, once the epoch before is written, and what is left of it from
// its barrier on, while the checkpoint is being written. When it is behind, the sink waits for it,
// and with it the job. So two epochs are held at most, and one is in a checkpoint.
//
// Lifecycle: restore*, open, (begin_batch add* | flush snapshot snapshot_rest* | commit)*, end,
// close. Thread: that of the task. State: the epochs that are not known to be written, whole, and
// the subtasks as which they may have begun to be. Errors: those of brokers and of the spill file.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <hummer/kafka/record.hpp>
#include <hummer/kafka/settings.hpp>
#include <hummer/operator.hpp>

namespace hummer::kafka {
class Background;
class EpochRecords;
class Transactions;
}  // namespace hummer::kafka

namespace hummer::kafka::detail {

class WriteAheadWriter {
 public:
  static constexpr bool takes_all_pieces = false;

  explicit WriteAheadWriter(const SinkSettings& settings);
  ~WriteAheadWriter();

  Status restore(OperatorContext& context, ByteReader& in);
  Status open(OperatorContext& context);
  Status begin_batch();
  bool add(const Message& message);
  OperatorResult blocked();
  OperatorResult flush();
  OperatorResult end();
  static std::vector<StateDescription> states() { return {}; }
  Status snapshot(ByteWriter& out);
  OperatorResult snapshot_rest(ByteWriter& out);
  Status commit(std::uint64_t epoch);
  Status close();

 private:
  // One that is not known to be written. Named by who has made it: the same in all attempts that
  // come to write it.
  struct Pending {
    std::uint64_t run = 0;
    std::uint32_t attempt = 0;
    std::uint32_t writer = 0;  // the subtask
    std::uint64_t epoch = 0;
    std::shared_ptr<EpochRecords> records;
    bool is_committing = false;
  };

  // Drops what has been written meanwhile.
  Status take_news();
  // Whether what is posted now finds the transaction free.
  bool has_transaction() const;
  void send_ahead();
  void begin(const Pending& sealed);
  // Whether another chunk may be gathered: else the thread has enough to do.
  bool has_room();
  Transactions& own();
  void seal(std::uint64_t epoch);
  std::shared_ptr<EpochRecords> make_records() const;

  const SinkSettings settings_;
  OperatorContext* context_ = nullptr;
  std::shared_ptr<EpochRecords> open_;
  std::size_t posted_ = 0;  // chunks of it that the thread has been given
  std::size_t posted_bytes_ = 0;
  std::atomic<std::size_t> sending_bytes_{0};  // of such chunks that are still the thread's to send
  std::vector<Pending> pending_;               // in the order in which they are to be written
  // By subtask: this one's, and of those whose state has come here. Of the thread, once there is
  // one.
  std::map<std::uint32_t, std::unique_ptr<Transactions>> transactions_;
  std::uint64_t last_barrier_ = 0;
  std::int64_t sealed_at_ = 0;
  // What the snapshot under way has still to write.
  std::vector<std::shared_ptr<EpochRecords>> unsaved_;
  std::size_t saved_chunks_ = 0;  // of the first of them
  Status failure_;
  bool has_ended_ = false;
  std::atomic<std::size_t> written_{0};  // of the first pending ones, by the thread
  std::unique_ptr<Background> background_;
};

}  // namespace hummer::kafka::detail
