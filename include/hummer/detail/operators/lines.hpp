// LinesOperator: TextBlock in, one std::string_view per line out.
#pragma once

#include <hummer/detail/operators/line_flat_map.hpp>

namespace hummer {

struct EmitLine {
  static constexpr bool keeps_to_its_input = true;
  void operator()(std::string_view line, Collector<std::string_view>& out) const { out(line); }
};

class LinesOperator final : public Operator {
 public:
  void declare(Output& out) const override { lines_.declare(out); }
  bool keeps_splits() const override { return true; }
  Status open() override {
    lines_.set_context(context());
    return {};
  }
  OperatorResult process(Batch& in, Output& out) override { return lines_.process(in, out); }
  std::string describe_position(const Batch& in) const override {
    return lines_.describe_position(in);
  }
  std::string describe_output(const Batch& in, std::size_t record) const override {
    return lines_.describe_line(in, record);
  }

 private:
  LineFlatMapOperator<std::string_view, EmitLine> lines_{EmitLine{}};
};

}  // namespace hummer
