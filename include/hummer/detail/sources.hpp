// The sources of StreamExecutionEnvironment, declared in environment.hpp. Included by
// data_stream.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/data_stream.hpp>
#include <hummer/text_stream.hpp>

namespace hummer {

template <typename T>
auto StreamExecutionEnvironment::from_source(std::string name,
                                             std::shared_ptr<const OperatorFactory> factory,
                                             bool bounded, const CapturedValues& captured) {
  if constexpr (detail::check_record_type<T>()) {
    return DataStream<T>(*this, detail::add_source(*this, std::move(name), std::move(factory),
                                                   bounded, type_of<T>(), captured));
  } else {
    return detail::RefusedStream();
  }
}

template <typename T, typename Make>
  requires(!std::is_convertible_v<Make, std::shared_ptr<const OperatorFactory>>)
auto StreamExecutionEnvironment::from_source(std::string name, Make make, bool bounded) {
  if constexpr (!detail::check_record_type<T>()) {
    return detail::RefusedStream();
  } else if constexpr (detail::check_source<Make, SourceFunction<T>>()) {
    return from_source<T>(std::move(name), make_operator_factory([make] {
                            return std::make_unique<SourceFunctionOperator<T>>(make());
                          }),
                          bounded, captured_values(make));
  } else {
    return detail::RefusedStream();
  }
}

template <typename T>
auto StreamExecutionEnvironment::from_collection(std::vector<T> values) {
  if constexpr (detail::check_record_type<Stored<T>>()) {
    CapturedValues captured;
    // Encodes them all, which only a comparison is worth.
    if (is_rebuilt()) captured = encoded_elements(values);
    auto collection = make_collection<T>(std::move(values));
    return from_source<Stored<T>>(
               "from_collection", make_operator_factory([collection] {
                 return std::make_unique<CollectionSource<Stored<T>>>(collection);
               }),
               true, captured)
        .parallelism(1);
  } else {
    return detail::RefusedStream();
  }
}

template <typename Function, typename TimestampFunction>
auto StreamExecutionEnvironment::generate(Function function, GeneratorOptions options,
                                          TimestampFunction timestamp) {
  if constexpr (detail::check_generate<Function, TimestampFunction>()) {
    using T = Stored<std::remove_cvref_t<std::invoke_result_t<Function&, std::uint64_t>>>;
    return from_source<T>(
        "generate", make_operator_factory([=] {
          return std::make_unique<GeneratorSource<T, Function, TimestampFunction>>(
              function, options, timestamp);
        }),
        options.count.has_value(),
        captured_values(function)
            .and_also(captured_values(timestamp))
            .and_also(encoded_values(options)));
  } else {
    return detail::RefusedStream();
  }
}

}  // namespace hummer
