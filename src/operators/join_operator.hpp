// JoinOperator: joins two whole bounded inputs. See
// hummer/detail/operators/bounded_operators.hpp; how, says the JoinAlgorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/detail/chooses_input.hpp>
#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/operator.hpp>

#include "operators/bounded_memory.hpp"
#include "operators/join_algorithm.hpp"

namespace hummer {

class JoinOperator final : public Operator, public ChoosesInput {
 public:
  JoinOperator(JoinParts parts, std::size_t memory_bytes)
      : parts_(std::move(parts)), given_bytes_(memory_bytes) {}

  void declare(Output& out) const override { out.add_port(parts_.function->output_type()); }
  Status open() override;
  OperatorResult process(Batch& in, Output& out) override { return process_input(0, in, out); }
  OperatorResult process_input(int input, Batch& in, Output& out) override;
  OperatorResult end(Output& out) override;
  bool makes_watermarks() const override { return true; }
  Status close() override;

  void set_channels(const std::vector<int>& inputs) override;
  std::size_t wanted_channel() const override { return any; }
  void comes_by(std::size_t) override {}
  void has_ended(std::size_t channel) override { --sides_[inputs_[channel]].channels; }

 private:
  struct Side {
    std::uint32_t channels = 0;  // that have not ended
    bool is_known_to_end = false;
  };

  void begin();
  void tell_of_ended_sides();
  // Calls the function for the pairs.
  void take_pairs(Output& out);
  void set_room(const Output& out);

  JoinParts parts_;
  const std::size_t given_bytes_;
  BoundedMemory memory_;
  std::unique_ptr<JoinAlgorithm> algorithm_;
  std::vector<std::size_t> inputs_;  // by channel
  Side sides_[2];
  EncodedRecords encoded_;
  std::size_t next_ = 0;  // of encoded_
  JoinPairs pairs_;
};

}  // namespace hummer
