// What the calls on streams ask of the functions, watermarks, windows and triggers that they are
// given, as named concepts. checks.hpp says, call by call, what is wrong where one does not hold.
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hummer/collector.hpp>
#include <hummer/triggers.hpp>
#include <hummer/windows.hpp>

namespace hummer {

// function(const T&) → U
template <typename Function, typename T>
concept MapFunction = std::is_invocable_v<Function&, const T&> &&
                      !std::is_void_v<std::invoke_result_t<Function&, const T&>>;

// function(const T&) → bool. Text is no answer, though a pointer to it converts.
template <typename Function, typename T>
concept Predicate =
    std::is_invocable_r_v<bool, Function&, const T&> &&
    !std::is_convertible_v<std::invoke_result_t<Function&, const T&>, std::string_view>;

// function(const T&, Collector<U>&)
template <typename Function, typename T, typename U>
concept FlatMapFunction = std::is_invocable_v<Function&, const T&, Collector<U>&>;

// function(const T&) → milliseconds since 1970, a whole number
template <typename Function, typename... T>
concept TimestampFunction =
    std::is_invocable_r_v<Timestamp, Function&, T...> &&
    !std::is_floating_point_v<std::remove_cvref_t<std::invoke_result_t<Function&, T...>>>;

// combine(const T&, const T&) → T, whose fraction is not lost
template <typename Combine, typename T>
concept ReduceFunction =
    std::is_invocable_r_v<T, Combine&, const T&, const T&> &&
    (std::is_floating_point_v<T> ||
     !std::is_floating_point_v<
         std::remove_cvref_t<std::invoke_result_t<Combine&, const T&, const T&>>>);

// A generator of watermarks; see watermarks.hpp.
template <typename Generator, typename T>
concept WatermarkGenerator = requires(Generator& generator, const T& record, Timestamp time) {
  generator.record(record, time);
  { generator.watermark() } -> std::convertible_to<Timestamp>;
};

// See windows.hpp.
template <typename Windows>
concept WindowsOfRecords = requires(const Windows& windows) {
  { windows.check() } -> std::convertible_to<Status>;
};

// See triggers.hpp.
template <typename Trigger>
concept WindowTrigger =
    requires(const Trigger& trigger, TriggerContext& context, typename Trigger::State& state) {
      { trigger.record(context, state) } -> std::same_as<TriggerResult>;
      { trigger.event_time(context, state) } -> std::same_as<TriggerResult>;
      { trigger.processing_time(context, state) } -> std::same_as<TriggerResult>;
      trigger.merge(state, std::as_const(state));
    };

// make() gives an object of the user's own on this contract.
template <typename Make, typename Contract>
concept Makes = std::is_invocable_r_v<std::unique_ptr<Contract>, const Make&>;

}  // namespace hummer
