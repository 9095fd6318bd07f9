// GroupOperator: sorts its input by key, and calls a function for each group of records with equal
// keys. See hummer/detail/operators/bounded_operators.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operators/sort_operator.hpp"

namespace hummer {

class GroupOperator final : public SortingOperator {
 public:
  GroupOperator(std::unique_ptr<RecordCoding> coding, std::unique_ptr<GroupFunction> function,
                std::size_t memory_bytes)
      : SortingOperator(std::move(coding), memory_bytes), function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(function_->output_type()); }

 protected:
  OperatorResult emit(Output& out) override;

 private:
  // The group at hand, as the function reads it.
  class Reader final : public GroupRecords {
   public:
    explicit Reader(GroupOperator& of) : of_(of) {}
    std::span<const std::string_view> next() override;

   private:
    GroupOperator& of_;
  };
  // Whether there is a record at hand; a failure is in failure_.
  bool fetch();

  const std::unique_ptr<GroupFunction> function_;
  std::span<const batch::RecordView> rest_;
  std::string key_;
  std::vector<std::string_view> block_;
  Status failure_;
};

}  // namespace hummer
