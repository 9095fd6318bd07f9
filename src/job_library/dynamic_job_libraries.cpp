#include "job_library/dynamic_job_libraries.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "job_library/elf_note.hpp"
#include "job_library/engine_abi.hpp"

namespace hummer {

Status check_job_library(std::string_view bytes) {
  Result<std::string_view> note = find_elf_note(bytes, "hummer", 1);
  if (!note.ok()) {
    if (note.status().code() != ErrorCode::not_found) {
      return {note.status().code(), "this is no job library: " + note.status().message() +
                                        "; give the .so file that hummer_add_job built"};
    }
    return {ErrorCode::invalid_argument,
            "this shared library is no job library: it lacks the note that HUMMER_JOB puts there; "
            "build it with hummer_add_job"};
  }
  const std::string_view abi = note->substr(0, note->find('\0'));
  if (abi == engine_abi()) return {};
  return {ErrorCode::invalid_argument,
          fmt::format("this job library was built for another engine ({}), and this is {}: build "
                      "it again with the headers, compiler and flags of this engine",
                      abi.substr(0, 500), engine_abi())};
}

DynamicJobLibraries::~DynamicJobLibraries() {
  // Left loaded: see the header. They stay in reach to the end, so that none counts as leaked.
  struct Kept {
    std::mutex mutex;
    std::vector<std::unique_ptr<DynamicLibrary>> libraries;
  };
  static Kept& kept = *new Kept;
  const std::lock_guard lock(kept.mutex);
  for (auto& entry : loaded_) kept.libraries.push_back(std::move(entry.second.library));
}

JobFunction DynamicJobLibraries::find(std::uint64_t hash) {
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(hash);
  return found == loaded_.end() ? nullptr : found->second.function;
}

Result<JobFunction> DynamicJobLibraries::load(std::uint64_t hash, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (const auto found = loaded_.find(hash); found != loaded_.end()) return found->second.function;
  if (const std::uint64_t real = hash_bytes(bytes.data(), bytes.size()); real != hash) {
    return Status(ErrorCode::corrupt_file,
                  fmt::format("the library was damaged on its way: its hash is {:016x} instead of "
                              "{:016x}; submit the job again",
                              real, hash));
  }
  HUMMER_TRY(check_job_library(bytes));
  Result<std::unique_ptr<DynamicLibrary>> library =
      load_dynamic_library(bytes, fmt::format("hummer-job-{:016x}", hash));
  if (!library.ok()) return library.status();
  const auto* function = static_cast<const JobFunction*>((*library)->symbol("hummer_job"));
  if (function == nullptr || *function == nullptr) {
    return Status(ErrorCode::invalid_argument,
                  "this library has no job: name its function with HUMMER_JOB(function)");
  }
  return (loaded_[hash] = {std::move(*library), *function}).function;
}

}  // namespace hummer
