// FileListing: the files that a run of a job reads, as they were when it was made.
//
// A file is the same one later, or on another machine, when its path, its size, the time of its
// last change and its sample are the same: a hash of its first and last 4 KiB. The time finds a
// change of the middle; the sample finds other content where times were set alike. Inodes say
// nothing across machines. So copies of a file count as the same if they keep its time (cp -p,
// rsync -t).
//
// Errors, each naming the file: those of list_input_files; file_changed; corrupt_record for bytes
// that are no listing. Pure but for make_listing and the checks. Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/connectors.hpp>
#include <hummer/status.hpp>

#include "connectors/file/decompress.hpp"
#include "connectors/file/file_splits.hpp"
#include "platform/files.hpp"

namespace hummer {

struct FileListing {
  std::string path;  // as the job names it
  std::uint64_t split_size_bytes = 0;
  std::vector<InputFile> files;  // by path
};

// Looks at the disk: at all names, and into every file that is not empty.
Result<FileListing> make_listing(Files& files, const std::string& path,
                                 const FileSourceOptions& options);

std::string to_bytes(const FileListing& listing);
Result<FileListing> listing_from(std::string_view bytes);

// Whether the file that was opened is the one that was listed.
Status check_listed(Files& files, ReadableFile& opened, const InputFile& listed);
// Whether nobody has changed it since: its size and time.
Status check_unchanged(Files& files, const InputFile& listed);

// Of what a file begins with.
Result<CompressionFormat> compression_of(ReadableFile& file, const FileSourceOptions& options);

}  // namespace hummer
