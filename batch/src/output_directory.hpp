// OutputDirectory: the files that a job writes, as Hadoop lays them out.
//
//   out/_temporary/part-r-00003.1    what attempt 1 of a task writes, or has written
//   out/part-r-00003                 when all tasks are done
//   out/_SUCCESS                     last
//
// Lifecycle: create(); tasks write parts (open_part, keep_part); then publish(), or it is
// destroyed, which removes all that it has made. Errors: invalid_argument, where the directory is
// there already, or in an object store; those of the disk, with the path.
//
// Thread: open_part and keep_part any; the rest one.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hummer/batch/task_context.hpp>
#include <hummer/status.hpp>

#include "platform/files.hpp"

namespace hummer::batch {

class OutputDirectory {
 public:
  static Result<std::unique_ptr<OutputDirectory>> create(Files& files, const std::string& path);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  // For what tasks need meanwhile.
  const std::string& temporary_path() const { return temporary_path_; }
  Result<std::unique_ptr<WritableFile>> open_part(const TaskContext& context);
  // The attempt was the one that counts.
  void keep_part(const TaskContext& context);
  // The paths of all parts.
  Result<std::vector<std::string>> publish();

 private:
  OutputDirectory(Files& files, std::string path);
  std::string part_name(const TaskContext& context) const;

  Files& files_;
  const std::string path_;
  const std::string temporary_path_;
  std::mutex mutex_;
  std::map<std::string, std::string> kept_;  // name of a part -> path of what was written
  bool is_published_ = false;
};

// A directory with all in it, as far as that goes; what is not there is no failure.
void remove_output(Files& files, const std::string& path);

}  // namespace hummer::batch
