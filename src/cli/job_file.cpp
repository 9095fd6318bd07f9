#include "cli/job_file.hpp"

#include <hummer/detail/key_hash.hpp>

namespace hummer {

Result<JobFile> read_job_file(Files& files, const std::string& path) {
  Result<std::unique_ptr<ReadableFile>> file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  JobFile job;
  job.bytes.resize((*file)->size_bytes());
  Result<std::size_t> read = (*file)->read_at(0, job.bytes);
  if (!read.ok()) return read.status();
  if (*read != job.bytes.size()) {
    return Status(ErrorCode::file_changed, path + " became shorter while it was read");
  }
  job.hash = hash_bytes(job.bytes.data(), job.bytes.size());
  return job;
}

Result<std::uint64_t> add_own_job(const Invocation& invocation, BuiltInJobLibraries& libraries) {
  if (invocation.job == nullptr) return std::uint64_t{0};
  const Result<JobFile> own = read_job_file(invocation.platform.files(), own_executable);
  if (!own.ok()) return own.status();
  libraries.add(own->hash, invocation.job);
  return own->hash;
}

}  // namespace hummer
