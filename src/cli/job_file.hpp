// JobFile: the bytes of a job library, or of a program with a job inside, and the hash by which a
// cluster knows them (XXH3-64).
//
// Errors: those of files, naming the path.
#pragma once

#include <cstdint>
#include <string>

#include <hummer/status.hpp>

#include "cli/command.hpp"
#include "job_library/job_libraries.hpp"
#include "platform/files.hpp"

namespace hummer {

struct JobFile {
  std::string bytes;
  std::uint64_t hash = 0;
};

Result<JobFile> read_job_file(Files& files, const std::string& path);

// Of the running executable.
inline constexpr const char* own_executable = "/proc/self/exe";

// For workers of a program with a job inside: adds that one to `libraries`, by the hash of the
// program, which it answers. In `hummer` it adds nothing: 0.
Result<std::uint64_t> add_own_job(const Invocation& invocation, BuiltInJobLibraries& libraries);

}  // namespace hummer
