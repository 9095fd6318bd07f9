// ShuffleReader: the head of a receiver task behind a blocking edge: the records of one partition
// of the files of all subtasks ahead, one file after the other.
//
// In the order of the subtasks, from its own number on, so that not all readers begin with one
// holder; always the same order, so a task that begins again meets the same records in the same
// one. No watermark comes before the end, which stands for the last one.
//
// Answers: more, blocked (nothing is there; the task's WakeEvent is notified when it is), done,
// failed. Lifecycle, thread: those of a source operator. Errors: those of ShuffleFetcher;
// corrupt_record.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <hummer/operator.hpp>

#include "net/block_reader.hpp"
#include "shuffle/shuffle_fetcher.hpp"

namespace hummer {

class ShuffleReader final : public SourceOperator {
 public:
  ShuffleReader(ShuffleAccess access, std::vector<ShuffleInput> inputs, const TypeDescriptor& type,
                std::function<void(const ShuffleKey&)> on_lost);
  ~ShuffleReader() override;

  void declare(Output& out) const override { out.add_port(type_); }
  bool wakes_itself() const override { return true; }
  Status open() override;
  OperatorResult produce(Output& out) override;
  Status close() override;

 private:
  const TypeDescriptor& type_;
  std::shared_ptr<ShuffleFetcher> fetcher_;
  std::optional<BlockReader> reader_;  // of the file in hand
};

}  // namespace hummer
