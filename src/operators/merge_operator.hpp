// MergeOperator: one sorted stream of the sorted ones that come by its channels, which it reads as
// it needs them (hummer/detail/chooses_input.hpp). Nothing is sorted again: a tree of losers says
// whose record goes first; of equal ones that of the channel with the lower number.
//
// Holds one batch of each channel, and one more for each channel that has ended before others.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/detail/chooses_input.hpp>
#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/operator.hpp>

namespace hummer {

class MergeOperator final : public Operator, public ChoosesInput {
 public:
  explicit MergeOperator(std::unique_ptr<RecordCoding> coding) : coding_(std::move(coding)) {}

  void declare(Output& out) const override { out.add_port(coding_->type()); }
  OperatorResult process(Batch& in, Output& out) override;
  OperatorResult end(Output& out) override;
  bool makes_watermarks() const override { return true; }

  void set_channels(const std::vector<int>& inputs) override {
    channels_ = std::vector<Channel>(inputs.size());
  }
  std::size_t wanted_channel() const override;
  void comes_by(std::size_t channel) override { comes_by_ = channel; }
  void has_ended(std::size_t channel) override { channels_[channel].ended = true; }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  struct Waiting {
    Batch batch;
    EncodedRecords keys;
    std::uint32_t at = 0;
  };
  struct Channel {
    std::deque<std::unique_ptr<Waiting>> waiting;
    std::string_view key;  // of the next record
    std::uint64_t prefix = 0;
    bool has_record = false;
    bool ended = false;
  };

  void take(Batch& in);
  // Emits until a channel has to bring more (done), or the output is full.
  OperatorResult merge(Output& out);
  // The next record of the channel, which has none at hand; false: it has to bring more.
  bool go_on(Channel& channel);
  // The records that were chosen.
  void hand_out(Output& out);
  bool goes_first(std::size_t a, std::size_t b) const;
  std::size_t play_all(std::size_t node);
  void play_above(std::size_t channel);
  bool begin();

  const std::unique_ptr<RecordCoding> coding_;
  std::vector<Channel> channels_;
  std::size_t comes_by_ = 0;
  std::vector<std::size_t> losers_;  // by node of the tree; its root is 1; empty: not begun
  std::size_t winner_ = none;
  std::size_t lacking_ = 0;  // the channel that has to bring more, or to end
  std::vector<RecordCoding::Place> places_;
  std::vector<std::unique_ptr<Waiting>> used_;  // whose records are in places_
  std::vector<std::unique_ptr<Waiting>> spares_;
};

}  // namespace hummer
