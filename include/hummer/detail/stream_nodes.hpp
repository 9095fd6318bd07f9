// How the calls of a DataStream become nodes of the graph. Included by hummer/data_stream.hpp,
// never by itself.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/data_stream.hpp>

namespace hummer {

template <typename T>
DataStream<T> DataStream<T>::union_of(const std::vector<DataStream>& others) const {
  const int node = env_->add_node({.name = "union",
                                   .kind = "operator",
                                   .factory = make_operator_factory([] {
                                     return std::make_unique<UnionOperator>(type_of<T>());
                                   }),
                                   .output_type = type_of<T>().name});
  env_->add_edge(node_, node, edge_);
  for (const DataStream& other : others) env_->add_edge(other.node_, node, other.edge_);
  return DataStream(*env_, node);
}

template <typename T>
template <typename Out>
DataStream<Out> DataStream<T>::add(std::string name, std::shared_ptr<const OperatorFactory> factory,
                                   bool stateful, const CapturedValues& captured,
                                   PlannedFor planned_for) const {
  const int node = env_->add_node({.name = std::move(name),
                                   .kind = "operator",
                                   .factory = std::move(factory),
                                   .stateful = stateful,
                                   .planned_for = planned_for,
                                   .output_type = type_of<Out>().name,
                                   .captured = captured});
  env_->add_edge(node_, node, edge_);
  return DataStream<Out>(*env_, node);
}

template <typename T>
DataStream<T> DataStream<T>::add_text_sink(std::string name,
                                           std::shared_ptr<const TextWriterFactory> writers,
                                           const CapturedValues& captured) const {
  return add_sink(std::move(name), make_operator_factory([writers] {
                    return std::make_unique<TextSinkOperator<T>>(writers->make());
                  }),
                  captured);
}

template <typename T>
template <typename Record>
int DataStream<T>::add_file_sink(const std::string& path) const {
  return detail::add_file_sink(
      *env_, node_, edge_, path,
      [](std::unique_ptr<TextWriter> writer) -> std::unique_ptr<Operator> {
        return std::make_unique<TextSinkOperator<T>>(std::move(writer));
      },
      [](std::unique_ptr<TwoPhaseWriter> writer) -> std::unique_ptr<Operator> {
        return std::make_unique<TwoPhaseSinkOperator<Record>>(std::move(writer));
      });
}

}  // namespace hummer
