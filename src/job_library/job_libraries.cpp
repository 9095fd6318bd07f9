#include "job_library/job_libraries.hpp"

namespace hummer {

Result<JobFunction> BuiltInJobLibraries::load(std::uint64_t hash, std::string_view) {
  if (JobFunction function = find(hash); function != nullptr) return function;
  return Status(ErrorCode::invalid_argument,
                "this process runs the job that is built into it and loads no libraries: submit "
                "with the same program, or start the workers as `hummer taskmanager`");
}

}  // namespace hummer
