// The emitters into ring channels, named by routing: forward, rebalance,
// broadcast, hash. See emitter.hpp for the contract.
//
// Records wait in an emitter only in HashEmitter's target batches, and there
// only while the task has more input at hand: `idle` and every other control
// publishes them. `idle` ends here: the next task finds out by itself that its
// input is empty.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/partitioner.hpp>

#include "runtime/emitter.hpp"
#include "runtime/ring_channel.hpp"

namespace hummer {

// What all forms share: the channels, and how they end.
class ChannelEmitter : public Emitter {
 public:
  ChannelEmitter(std::vector<RingChannel*> channels, std::string target)
      : channels_(std::move(channels)), target_(std::move(target)) {}
  Status failure() const override;
  void send_out_of_band(std::uint64_t epoch, std::string in_flight) override;
  void abandon() override;
  std::string describe() const override;

 protected:
  // Publishes `element` on channel `index`; failed when its consumer has gone.
  OperatorResult publish(std::size_t index, Element& element);
  // Publishes `control` on every channel, resumable.
  OperatorResult publish_to_all(Control& control);

  std::vector<RingChannel*> channels_;
  std::string target_;
  std::size_t stuck_ = 0;         // the channel without credit
  std::size_t control_next_ = 0;  // how many channels have the control already
};

class ForwardEmitter final : public ChannelEmitter {
 public:
  using ChannelEmitter::ChannelEmitter;
  OperatorResult offer(Element& element) override;
};

// Whole batches in turn, skipping channels without credit. Senders begin at different ones, so that
// few batches of many senders do not all go to the same receiver.
class RebalanceEmitter final : public ChannelEmitter {
 public:
  RebalanceEmitter(std::vector<RingChannel*> channels, std::string target, std::size_t sender = 0)
      : ChannelEmitter(std::move(channels), std::move(target)),
        next_(channels_.empty() ? 0 : sender % channels_.size()) {}
  OperatorResult offer(Element& element) override;

 private:
  std::size_t next_;
};

// One shared, read-only batch for all.
class BroadcastEmitter final : public ChannelEmitter {
 public:
  using ChannelEmitter::ChannelEmitter;
  OperatorResult offer(Element& element) override;

 private:
  std::size_t next_ = 0;
  Element copy_;
};

class HashEmitter final : public ChannelEmitter {
 public:
  HashEmitter(std::vector<RingChannel*> channels, std::string target, const TypeDescriptor& type,
              std::unique_ptr<Partitioner> partitioner, std::uint32_t batch_records);
  OperatorResult offer(Element& element) override;
  void collect(std::string& runs) const override;

 private:
  OperatorResult publish_target(std::size_t index);

  const TypeDescriptor& type_;
  std::unique_ptr<Partitioner> partitioner_;
  const std::uint32_t batch_records_;
  std::vector<Batch> targets_;
};

}  // namespace hummer
