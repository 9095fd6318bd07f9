// Files in object stores that speak S3, for sources and sinks:
//
//   follow_files(env, "s3://bucket/in", {.store = hummer::s3::files()})
//   write_files(clicks, "s3://bucket/out", {.store = hummer::s3::files()})
//
// Paths may do without "s3://". Settings are completed by each process's environment
// (settings.hpp), so that credentials need not travel with the job.
//
// Reading: an object is read as it was when it was taken (its ETag), in pieces of 2 MiB, one ahead,
// by two threads of each subtask; no slot waits for them. Listing holds the slot, a page of 1,000
// at a time.
//
// Writing: a file is an upload in parts (5 MiB at first, more from 1,000 parts on), which each open
// file holds in memory. It is completed when its checkpoint is, where nothing has its name; one
// that was completed twice is known by its metadata. Uploads end with each checkpoint.
//
// Errors: connectors/s3/include/hummer/s3/client.hpp. Thread: a factory any; see FileStore for the
// rest.
#pragma once

#include <memory>

#include <hummer/detail/file_store.hpp>
#include <hummer/s3/settings.hpp>

namespace hummer::s3 {

std::shared_ptr<const FileStoreFactory> files(Settings settings = {});

}  // namespace hummer::s3
