// Counters: numbers that the tasks of a job count, by group and name.
//
//   Counter& words = context.counters().counter("Text", "words");   // once, in open()
//   words.add(1);                                                   // as often as wanted
//
// Each task counts for itself; the counters of tasks that succeeded are added up at the end of the
// job, and shown with those of the engine, which are named as Hadoop names them
// (hummer/batch/job.hpp). A reference holds as long as the Counters do.
//
// Thread: one. Cost: adding to a number; finding a counter by its name is a search.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hummer::batch {

class Counter {
 public:
  void add(std::uint64_t amount) { value_ += amount; }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

class Counters {
 public:
  using Group = std::map<std::string, Counter, std::less<>>;

  // Made where it is missing.
  Counter& counter(std::string_view group, std::string_view name);
  // 0 where nobody has counted.
  std::uint64_t value(std::string_view group, std::string_view name) const;
  void add(const Counters& others);
  const std::map<std::string, Group, std::less<>>& groups() const { return groups_; }

 private:
  std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace hummer::batch
