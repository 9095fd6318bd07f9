// ReadUnitsOperator: reads the FileUnits that come to it, one after the other, and puts out their
// lines as blocks.
//
// Units that come are kept in a queue, which is state, and read between two elements, a block at a
// time, by a timer that is set again each time. So a barrier passes between two blocks, however
// large a file is. Only where very many units wait is one read up before the next is taken.
//
// At another parallelism the queues of the earlier subtasks are dealt out as they are.
//
// State: the queue, and where in its first unit it is. Errors: those of UnitReader; of a file that
// is gone or has changed as the options say. Thread: that of the operator.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <hummer/metrics.hpp>

#include "connectors/file_store/unit_reader.hpp"

namespace hummer {

class ReadUnitsOperator final : public Operator {
 public:
  static constexpr std::size_t most_waiting = 256;

  explicit ReadUnitsOperator(FollowOptions options);

  void declare(Output& out) const override { out.add_port(type_of<TextBlock>()); }
  Status restore(ByteReader& in) override;
  Status open() override;
  OperatorResult process(Batch& in, Output& out) override;
  OperatorResult idle(Output& out) override;
  OperatorResult timer(std::int64_t now, Output& out) override;
  OperatorResult end(Output& out) override;
  std::vector<StateDescription> states() override { return {{"units", "file_units"}}; }
  Status snapshot(ByteWriter& out) override;
  Status close() override;

 private:
  enum class Step : std::uint8_t { block, unit_ended, nothing, waiting, failed };

  // Reads on, up to a block.
  Step read_on(Output& out);
  // Of the first unit: fails the job, or goes on with the next.
  Step give_up(const Status& status);
  void end_unit();
  void set_timer();

  struct Waiting {
    FileUnit unit;
    std::uint64_t from = 0;
  };

  const FollowOptions options_;
  LineBufferPool pool_;
  std::unique_ptr<FileStore> store_;
  Counter left_out_{"files_left_out"};
  std::deque<Waiting> units_;
  std::unique_ptr<UnitReader> reader_;  // of the first
  std::uint64_t counted_bytes_ = 0;     // of it
};

}  // namespace hummer
