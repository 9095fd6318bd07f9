// TwoPhaseSinkOperator<T>: lines of text that become visible once, with the checkpoint that they
// belong to (two-phase commit).
//
//   between barriers   lines go into the open transaction of a TwoPhaseWriter
//   at a barrier       the transaction is prepared: durable, invisible, known by a handle that the
//                      snapshot holds; the next one begins
//   commit(epoch)      the checkpoint is complete: handles up to its epoch become visible
//   after a restart    handles of the restored checkpoint are committed (again: commit is
//   idempotent),
//                      everything else that earlier attempts left is aborted
//
// So output equals that of a run without failure, also when a process dies between the phases.
// Lines become visible a checkpoint later than they were written.
//
// At the end of the stream the rest is prepared; the final checkpoint commits it.
//
// State: the handles that are prepared and not committed. Errors: those of the writer. Thread: that
// of the operator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/connectors.hpp>
#include <hummer/format.hpp>
#include <hummer/operator.hpp>
#include <hummer/operators/format_text.hpp>

namespace hummer {

template <typename T>
class TwoPhaseSinkOperator final : public Operator {
 public:
  static constexpr std::size_t buffer_bytes = 64 << 10;

  explicit TwoPhaseSinkOperator(std::unique_ptr<TwoPhaseWriter> writer)
      : writer_(std::move(writer)) {}

  void declare(Output&) const override {}

  // The pieces of all earlier subtasks come in turn: those that fall to this one are kept to
  // commit.
  Status restore(ByteReader& in) override {
    std::uint8_t version = 0;
    std::uint64_t count = 0;
    if (!in.get_value(version) || version != 1 || !in.get_value(count)) return damaged();
    for (std::uint64_t i = 0; i < count; ++i) {
      Prepared prepared;
      std::string_view handle;
      if (!in.get_value(prepared.epoch) || !in.get_text(handle)) return damaged();
      prepared.handle = handle;
      prepared_.push_back(std::move(prepared));
    }
    std::sort(prepared_.begin(), prepared_.end(),
              [](const Prepared& a, const Prepared& b) { return a.epoch < b.epoch; });
    return {};
  }

  Status open() override {
    HUMMER_TRY(writer_->open(context()));
    std::vector<std::string> handles;
    for (const Prepared& each : prepared_) handles.push_back(each.handle);
    return writer_->abort_all_but(handles);
  }

  Answer process(Batch& in, Output&) override {
    const auto records = in.values<T>();
    std::size_t i = in.position();
    std::size_t complete = text_.size();
    try {
      for (; i < records.size(); ++i) {
        if (text_.size() >= buffer_bytes) {
          in.advance_to(i);
          if (const Answer answer = hand_over(); answer != Answer::done) return answer;
          complete = 0;
        }
        add(records[i]);
        complete = text_.size();
      }
    } catch (...) {
      text_.resize(complete);
      in.advance_to(i);
      throw;
    }
    in.advance_to(i);
    return Answer::done;
  }

  // A barrier: what came before it belongs to its epoch.
  Answer flush(Output&) override { return prepare(context().epoch()); }

  // Whatever checkpoint comes next holds the end. Its epoch is not that of anything visible, also
  // when nothing was written since the restart.
  Answer end(Output&) override { return prepare(context().epoch() + 1); }

  std::vector<StateDescription> states() override {
    return {{"prepared", "vector<tuple<u64,string>>"}};
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(std::uint8_t{1});  // version
    out.put_value(static_cast<std::uint64_t>(prepared_.size()));
    for (const Prepared& each : prepared_) {
      out.put_value(each.epoch);
      out.put_text(each.handle);
    }
    return {};
  }

  Status commit(std::uint64_t epoch) override {
    std::size_t done = 0;
    for (; done < prepared_.size() && prepared_[done].epoch <= epoch; ++done) {
      HUMMER_TRY(writer_->commit(prepared_[done].handle));
    }
    prepared_.erase(prepared_.begin(), prepared_.begin() + static_cast<std::ptrdiff_t>(done));
    return {};
  }

  Status close() override {
    writer_->close();
    return {};
  }

 private:
  struct Prepared {
    std::uint64_t epoch = 0;
    std::string handle;
  };

  static Status damaged() {
    return {ErrorCode::corrupt_record, "the state of a two-phase sink cannot be decoded"};
  }

  void add(const T& record) {
    if constexpr (std::is_same_v<T, FormattedText>) {
      text_.append(record.text);
      context().count_records(record.records - 1);
    } else {
      format_record(record, text_);
      text_.push_back('\n');
    }
  }

  Answer hand_over() {
    if (text_.empty()) return Answer::done;
    const Answer answer = writer_->write(text_);
    if (answer == Answer::done) text_.clear();
    return answer;
  }

  Answer prepare(std::uint64_t epoch) {
    if (const Answer answer = hand_over(); answer != Answer::done) return answer;
    Result<std::string> handle = writer_->prepare(epoch);
    if (!handle.ok()) return context().fail(handle.status());
    if (!handle->empty()) prepared_.push_back({epoch, std::move(*handle)});
    return Answer::done;
  }

  std::unique_ptr<TwoPhaseWriter> writer_;
  std::string text_;
  std::vector<Prepared> prepared_;  // by epoch
};

}  // namespace hummer
