#include <hummer/data_stream.hpp>

namespace hummer::detail {

int add_file_sink(
    StreamExecutionEnvironment& env, int node, const EdgeSpecification& edge,
    const std::string& path, std::unique_ptr<Operator> (*make_sink)(std::unique_ptr<TextWriter>),
    std::unique_ptr<Operator> (*make_two_phase_sink)(std::unique_ptr<TwoPhaseWriter>)) {
  NodeSpecification sink{.name = "write_file", .kind = "sink", .captured = encoded_values(path)};
  if (path == "-") {
    sink.factory = make_operator_factory(
        [writers = make_print_writer(), make_sink] { return make_sink(writers->make()); });
    sink.parallelism = 1;
  } else {
    sink.factory = make_planned_factory([writers = make_file_writer(path),
                                         transactions = make_two_phase_file_writer(path), make_sink,
                                         make_two_phase_sink](const Plan& plan) {
      return plan.checkpoints ? make_two_phase_sink(transactions->make())
                              : make_sink(writers->make());
    });
    sink.parallelism_without_checkpoints = 1;
  }
  const int added = env.add_node(std::move(sink));
  env.add_edge(node, added, edge);
  return added;
}

}  // namespace hummer::detail
