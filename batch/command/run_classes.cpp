#include "run_classes.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "class_libraries.hpp"
#include "job_command.hpp"
#include "job_options.hpp"
#include "streaming.hpp"

namespace hummer {
namespace {

// What --help offers beside the options of all jobs.
struct ClassOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> libraries;
  std::string mapper;
  std::string combiner;
  std::string reducer;
  std::string folder;
  std::string partitioner;
  std::string map_command;
  std::string reduce_command;
  std::string input_format = "text";
  std::string output_format = "text";
  std::string record_reader;
  std::string record_writer;
  std::string sort_order;
  std::string group_order;
  std::vector<std::string> definitions;
  bool lists_classes = false;
};

void tell(CommandLine& line, ClassOptions& options) {
  line.option("--input", options.inputs, "a file, a directory or a pattern; several times");
  line.option("--output", options.output, "a directory that does not exist");
  line.option("--library", options.libraries,
              "a shared library with classes (docs/batch.md); several times");
  line.option("--mapper", options.mapper, "LIBRARY.CLASS [hummer.IdentityMapper]");
  line.option("--combiner", options.combiner, "LIBRARY.CLASS [none]");
  line.option("--reducer", options.reducer, "LIBRARY.CLASS [hummer.IdentityReducer]");
  line.option("--folder", options.folder,
              "LIBRARY.CLASS: instead of a combiner; without a reducer nothing is sorted [none]");
  line.option("--partitioner", options.partitioner, "LIBRARY.CLASS [hummer.HashPartitioner]");
  line.option("--map-command", options.map_command,
              "a program as the mapper: lines on its standard input and output");
  line.option("--reduce-command", options.reduce_command,
              "a program as the reducer: lines of key, TAB, value, sorted");
  line.option("--input-format", options.input_format,
              "text, fixed:KEY,VALUE in bytes, or segments:CODEC [text]");
  line.option("--output-format", options.output_format, "text, raw or none [text]");
  line.option("--record-reader", options.record_reader,
              "LIBRARY.CLASS, instead of that of the input format");
  line.option("--record-writer", options.record_writer,
              "LIBRARY.CLASS, instead of that of the output format");
  line.option("--sort-order", options.sort_order,
              "of keys: bytes, text, long ..., or LIBRARY.NAME [bytes]");
  line.option("--group-order", options.group_order,
              "what of a key makes a group, if not all that sorts it");
  line.option("--define", options.definitions, "NAME=VALUE, a parameter of the job; several times");
  line.flag("--list-classes", options.lists_classes, "prints the classes that there are, and ends");
}

// Stores the factory of a class where it is named.
template <typename Base>
Status find_class(const batch::ClassLibraries& libraries, std::string_view option,
                  const std::string& name, batch::Factory<Base>& factory) {
  if (name.empty()) return Status();
  auto found = libraries.find<Base>(name);
  if (!found.ok()) return found.status().with_context(option);
  factory = std::move(*found);
  return Status();
}

Status find_orders(const batch::ClassLibraries& libraries, const ClassOptions& options,
                   batch::Job& job) {
  if (!options.sort_order.empty()) {
    const auto order = libraries.find_order(options.sort_order);
    if (!order.ok()) return order.status().with_context("--sort-order");
    job.sort_order = *order;
  }
  if (!options.group_order.empty()) {
    const auto order = libraries.find_order(options.group_order);
    if (!order.ok()) return order.status().with_context("--group-order");
    job.group_order = *order;
    job.has_group_order = true;
  }
  return Status();
}

Status find_formats(const batch::ClassLibraries& libraries, const ClassOptions& options,
                    batch::Job& job) {
  auto input_format = batch::input_format_of(options.input_format);
  if (!input_format.ok()) return input_format.status().with_context("--input-format");
  job.input_format = std::move(*input_format);
  auto output_format = batch::output_format_of(options.output_format);
  if (!output_format.ok()) return output_format.status().with_context("--output-format");
  job.output_format = std::move(*output_format);
  HUMMER_TRY(find_class(libraries, "--record-reader", options.record_reader,
                        job.input_format.make_reader));
  return find_class(libraries, "--record-writer", options.record_writer,
                    job.output_format.make_writer);
}

Status take_programs(const ClassOptions& options, batch::Job& job) {
  if (!options.map_command.empty()) {
    if (!options.mapper.empty()) {
      return Status(ErrorCode::invalid_argument, "--map-command and --mapper exclude each other");
    }
    const bool is_text = options.input_format == "text" && options.record_reader.empty();
    job.mapper = [command = options.map_command, parameters = job.parameters, is_text] {
      return std::make_unique<batch::StreamingMapper>(command, parameters, is_text);
    };
  }
  if (options.reduce_command.empty()) return Status();
  if (!options.reducer.empty()) {
    return Status(ErrorCode::invalid_argument, "--reduce-command and --reducer exclude each other");
  }
  job.reducer = [command = options.reduce_command, parameters = job.parameters] {
    return std::make_unique<batch::StreamingReducer>(command, parameters);
  };
  return Status();
}

Status take_definitions(const ClassOptions& options, batch::Job& job) {
  for (const std::string& definition : options.definitions) {
    const std::size_t equals = definition.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status(ErrorCode::invalid_argument,
                    fmt::format("--define: expected NAME=VALUE, not '{}'", definition));
    }
    job.parameters[definition.substr(0, equals)] = definition.substr(equals + 1);
  }
  return Status();
}

Status take(const batch::ClassLibraries& libraries, const ClassOptions& options, batch::Job& job) {
  job.name = "run";
  job.inputs = options.inputs;
  job.output = options.output;
  if (options.inputs.empty() || options.output.empty()) {
    return Status(ErrorCode::invalid_argument, "name an --input and the --output");
  }
  if (!options.folder.empty() && !options.combiner.empty()) {
    return Status(ErrorCode::invalid_argument, "--folder stands instead of --combiner");
  }
  HUMMER_TRY(take_definitions(options, job));
  HUMMER_TRY(find_class(libraries, "--mapper", options.mapper, job.mapper));
  HUMMER_TRY(find_class(libraries, "--combiner", options.combiner, job.combiner));
  HUMMER_TRY(find_class(libraries, "--reducer", options.reducer, job.reducer));
  HUMMER_TRY(find_class(libraries, "--folder", options.folder, job.folder));
  HUMMER_TRY(find_class(libraries, "--partitioner", options.partitioner, job.partitioner));
  HUMMER_TRY(find_orders(libraries, options, job));
  HUMMER_TRY(find_formats(libraries, options, job));
  return take_programs(options, job);
}

}  // namespace

int run_classes(const Invocation& invocation) {
  CommandLine line(
      "Runs a MapReduce job of classes by their names, or of programs, as Hadoop "
      "Streaming does. Shared libraries bring classes; those of hummer itself are "
      "called hummer.CLASS.");
  ClassOptions options;
  tell(line, options);
  JobOptions job_options(line);
  line.footer("Exit code: 0 success, 1 failure, 2 wrong usage, 130 or 143 stopped by a signal.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  batch::ClassLibraries libraries;
  for (const std::string& path : options.libraries) {
    if (const Status status = libraries.load(platform.files(), path); !status.ok()) {
      return report(platform, status);
    }
  }
  if (options.lists_classes) {
    std::string text;
    for (const auto& [name, kind] : libraries.kinds()) text += fmt::format("{}\t{}\n", name, kind);
    (void)platform.write_standard(1, text);
    return 0;
  }
  batch::Job job;
  Status status = take(libraries, options, job);
  if (status.ok()) status = job_options.apply(job);
  if (!status.ok()) return report_usage(platform, status);
  return run_job_command(platform, job, job_options.json());
}

}  // namespace hummer
