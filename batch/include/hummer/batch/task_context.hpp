// TaskContext: what a task knows of itself and of its job; open() of mappers, reducers, folders
// and partitioners is given it.
//
//   Status open(TaskContext& context) override {
//     pattern_ = context.parameter("pattern");
//     lines_ = &context.counters().counter("Text", "lines");
//     return Status();
//   }
//
// A job's parameters are texts by name (`--define NAME=VALUE`, Job::parameter).
//
// Thread: one. It lives as long as the task.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/batch/counters.hpp>

namespace hummer::batch {

using Parameters = std::map<std::string, std::string, std::less<>>;

class TaskContext {
 public:
  enum class Kind : std::uint8_t { map, reduce };

  // Both outlive it.
  TaskContext(Kind kind, std::uint32_t number, std::uint32_t attempt, const Parameters& parameters,
              const std::atomic<bool>& is_stopping)
      : kind_(kind),
        number_(number),
        attempt_(attempt),
        parameters_(parameters),
        is_stopping_(is_stopping) {}
  TaskContext(const TaskContext&) = delete;
  TaskContext& operator=(const TaskContext&) = delete;

  Kind kind() const { return kind_; }
  // Among the tasks of its kind, from 0; of a reduce task the partition that it has.
  std::uint32_t number() const { return number_; }
  // From 1.
  std::uint32_t attempt() const { return attempt_; }
  // Empty where the job has none of that name.
  std::string_view parameter(std::string_view name) const {
    const auto found = parameters_.find(name);
    return found == parameters_.end() ? std::string_view() : std::string_view(found->second);
  }
  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }

  // Whether the job is to end: what a task comes to does not count any more. For calls that take
  // long.
  bool is_stopping() const { return is_stopping_.load(std::memory_order_relaxed); }

  // Of a map task: which of the job's inputs its split is of, from 0, and the file.
  std::uint32_t input() const { return input_; }
  const std::string& path() const { return path_; }
  void set_input(std::uint32_t input, std::string path) {
    input_ = input;
    path_ = std::move(path);
  }

 private:
  const Kind kind_;
  const std::uint32_t number_;
  const std::uint32_t attempt_;
  const Parameters& parameters_;
  const std::atomic<bool>& is_stopping_;
  Counters counters_;
  std::uint32_t input_ = 0;
  std::string path_;
};

}  // namespace hummer::batch
