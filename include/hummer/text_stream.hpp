// TextStream: text as it comes from a file or socket: blocks of whole lines, or lines, as the next
// operator wants them. Everything that a stream of lines can do, it can.
#pragma once

#include <string>
#include <type_traits>

#include <hummer/data_stream.hpp>
#include <hummer/detail/line_calls.hpp>
#include <hummer/detail/operators/block_flat_map.hpp>
#include <hummer/detail/operators/line_flat_map.hpp>

namespace hummer {
namespace detail {

template <typename Function, typename Out>
consteval bool takes_blocks() {
  if constexpr (std::is_void_v<Out>) {
    return false;
  } else {
    return std::is_invocable_v<Function&, TextBlock, Collector<Out>&>;
  }
}

}  // namespace detail

class TextStream : public detail::CallsOfKeyedStreams<TextStream>,
                   public detail::LineCalls<TextStream>,
                   public BoundedOperations<TextStream, std::string_view> {
 public:
  explicit TextStream(DataStream<TextBlock> blocks) : blocks_(std::move(blocks)) {}

  // function(std::string_view line, Collector<U>&), or, to see many lines at once,
  // function(TextBlock, Collector<U>&) → bytes consumed: see
  // hummer/detail/operators/block_flat_map.hpp.
  template <typename U = void, typename Function>
  auto flat_map(Function function) const {
    using Out = std::conditional_t<std::is_void_v<U>, detail::Collected<Function>, U>;
    if constexpr (detail::takes_blocks<Function, Out>()) {
      return blocks_.transform<Out>(
          "flat_map", make_operator_factory([function] {
            return std::make_unique<BlockFlatMapOperator<Out, Function>>(function);
          }),
          false, captured_values(function));
    } else if constexpr (detail::takes_owned_into<Function, std::string_view, Out>()) {
      return lines().template flat_map<Out>(function);
    } else if constexpr (detail::check_flat_map<Function, std::string_view, Out>()) {
      return blocks_.transform<Out>(
          "flat_map", make_operator_factory([function] {
            return std::make_unique<LineFlatMapOperator<Out, Function>>(function);
          }),
          false, captured_values(function));
    } else {
      return detail::RefusedStream();
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
  void print() const;
  DataStream<std::string_view> write_file(const std::string& path) const;
  template <typename Function>
  auto for_each(Function function) const {
    return lines().for_each(function);
  }

  DataStream<std::string_view> lines() const;
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
