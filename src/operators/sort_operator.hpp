// SortOperator: all records of its input, sorted by their keys. See
// hummer/detail/operators/bounded_operators.hpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/operator.hpp>

#include "operators/bounded_memory.hpp"
#include "operators/external_sorter.hpp"

namespace hummer {

// What takes its whole input into a sorter: the half that sorts and groups have in common.
class SortingOperator : public Operator {
 public:
  SortingOperator(std::unique_ptr<RecordCoding> coding, std::size_t memory_bytes)
      : coding_(std::move(coding)), given_bytes_(memory_bytes) {}

  Status open() override;
  OperatorResult process(Batch& in, Output& out) override;
  OperatorResult end(Output& out) override;
  // Those of its input pass records that are still here.
  bool makes_watermarks() const override { return true; }
  Status close() override;

 protected:
  // Emits what is sorted; called until it answers `done`, with an empty output.
  virtual OperatorResult emit(Output& out) = 0;

  RecordCoding& coding() { return *coding_; }
  ExternalSorter& sorter() { return *sorter_; }

 private:
  void begin();
  // `done`: there is room.
  OperatorResult step();

  const std::unique_ptr<RecordCoding> coding_;
  const std::size_t given_bytes_;
  BoundedMemory memory_;
  std::optional<ExternalSorter> sorter_;
  EncodedRecords encoded_;
  std::size_t next_ = 0;  // of encoded_
  bool is_stepping_ = false;
  bool is_sorted_ = false;
};

class SortOperator final : public SortingOperator {
 public:
  void declare(Output& out) const override { out.add_port(type_); }

  SortOperator(std::unique_ptr<RecordCoding> coding, std::size_t memory_bytes)
      : SortingOperator(std::move(coding), memory_bytes), type_(this->coding().type()) {}

 protected:
  OperatorResult emit(Output& out) override;

 private:
  const TypeDescriptor& type_;
  std::span<const batch::RecordView> rest_;
  std::vector<std::string_view> values_;
};

}  // namespace hummer
