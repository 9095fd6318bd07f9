// Programs as mappers and reducers, as Hadoop Streaming has them: lines on their standard input and
// output, key and value with a TAB between.
//
//   mapper    is given the lines of a text input, without their offsets; of other inputs key, TAB,
//             value. What it writes: the key is what is before the first TAB, the value what is
//             behind it; a line without one is a key.
//   reducer   is given key, TAB, value of all records of its partition, sorted by key. What it
//             writes is cut in the same way.
//
// A program runs once for each task, by /bin/sh -c, with the job's parameters as variables (their
// names with '_' for what is no letter or digit), and mapreduce_map_input_file,
// mapreduce_task_partition as Hadoop names them. It fails the task by an exit code other than 0.
//
// Thread: one each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/batch/mapper.hpp>
#include <hummer/batch/reducer.hpp>
#include <hummer/batch/task_context.hpp>

#include "platform/child_process.hpp"

namespace hummer::batch {

// A program, fed with lines; what it writes goes to an output.
class LineProgram {
 public:
  explicit LineProgram(std::string command) : command_(std::move(command)) {}

  Status start(const TaskContext& context, const Parameters& parameters);
  Status write(std::string_view lines, RecordOutput& output);
  // There are no more lines: the rest of what it writes, and its end.
  Status end(RecordOutput& output);

 private:
  // Those that are whole; `all`: also the last one.
  void emit_lines(RecordOutput& output, bool all);

  const std::string command_;
  const TaskContext* context_ = nullptr;
  std::unique_ptr<ChildProcess> process_;
  std::string written_;
};

class StreamingMapper final : public Mapper {
 public:
  StreamingMapper(std::string command, Parameters parameters, bool input_is_text)
      : program_(std::move(command)),
        parameters_(std::move(parameters)),
        input_is_text_(input_is_text) {}

  Status open(TaskContext& context) override { return program_.start(context, parameters_); }
  Status map(std::span<const RecordView> records, MapOutput& output) override;
  Status close(MapOutput& output) override { return program_.end(output); }

 private:
  LineProgram program_;
  const Parameters parameters_;
  const bool input_is_text_;
  std::string lines_;
};

class StreamingReducer final : public Reducer {
 public:
  StreamingReducer(std::string command, Parameters parameters)
      : program_(std::move(command)), parameters_(std::move(parameters)) {}

  Status open(TaskContext& context) override { return program_.start(context, parameters_); }
  Status reduce(GroupReader& groups, RecordOutput& output) override;
  Status close(RecordOutput& output) override { return program_.end(output); }

 private:
  LineProgram program_;
  const Parameters parameters_;
  std::string lines_;
};

}  // namespace hummer::batch
