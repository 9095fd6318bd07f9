// TextStream: text as it comes from a file or socket..
#pragma once

#include <string>
#include <type_traits>

#include <hummer/data_stream.hpp>

namespace hummer {

// Text as it comes from a file or socket: blocks of whole lines, or lines, as the
// next operator wants them. Everything that a stream of lines can do, it can.
class TextStream {
 public:
  explicit TextStream(DataStream<TextBlock> blocks) : blocks_(std::move(blocks)) {}

  // function(std::string_view line, Collector<U>&), or, to see many lines at once,
  // function(TextBlock, Collector<U>&) → bytes consumed: see
  // hummer/detail/operators/block_flat_map.hpp.
  template <typename U = void, typename Function>
  auto flat_map(Function function) const {
    if constexpr (std::is_void_v<U>) {
      return flat_map<detail::Collected<Function>>(function);
    } else {
      if constexpr (std::is_invocable_v<Function&, TextBlock, Collector<U>&>) {
        return blocks_.transform<U>(
            "flat_map", make_operator_factory([function] {
              return std::make_unique<BlockFlatMapOperator<U, Function>>(function);
            }),
            false, captured_values(function));
      } else if constexpr (wants_owned<Function, std::string_view, Collector<U>&>) {
        return lines().template flat_map<U>(function);
      } else {
        return blocks_.transform<U>(
            "flat_map", make_operator_factory([function] {
              return std::make_unique<LineFlatMapOperator<U, Function>>(function);
            }),
            false, captured_values(function));
      }
    }
  }
  template <typename Function>
  auto map(Function function) const {
    return lines().map(function);
  }
  template <typename Function>
  auto filter(Function function) const {
    return lines().filter(function);
  }
  template <typename KeyOf>
  auto key_by(KeyOf key_of) const {
    return lines().key_by(key_of);
  }
  template <typename TimestampOf, typename Generator>
  auto assign_timestamps(TimestampOf timestamp_of, WatermarkSettings<Generator> watermarks) const {
    return lines().assign_timestamps(timestamp_of, watermarks);
  }
  void print() const { lines().print(); }
  DataStream<std::string_view> write_file(const std::string& path) const {
    return lines().write_file(path);
  }
  template <typename Function>
  auto for_each(Function function) const {
    return lines().for_each(function);
  }

  DataStream<std::string_view> lines() const {
    return blocks_.transform<std::string_view>(
        "lines", make_operator_factory([] { return std::make_unique<LinesOperator>(); }));
  }
  operator DataStream<std::string_view>() const { return lines(); }  // NOLINT: implicit on purpose
  const DataStream<TextBlock>& blocks() const { return blocks_; }

  TextStream rebalance() const { return TextStream(blocks_.rebalance()); }
  TextStream name(const std::string& name) const { return TextStream(blocks_.name(name)); }
  TextStream uid(const std::string& uid) const { return TextStream(blocks_.uid(uid)); }
  TextStream parallelism(int parallelism) const {
    return TextStream(blocks_.parallelism(parallelism));
  }

 private:
  DataStream<TextBlock> blocks_;
};

}  // namespace hummer
