// LibraryFiles: the job libraries of the JobManager's journal, each a file named by its hash.
//
// A file is there whole or not at all: written under another name, synced, renamed. One that was
// damaged afterwards is noticed when it is read. The directory is its owner's to make.
//
// Thread: one at a time. Errors: those of Files, corrupt_file.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "platform/platform.hpp"

namespace hummer {

class LibraryFiles {
 public:
  LibraryFiles(Files& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  // Durable when it returns. Nothing is done for one that is there.
  Status keep(std::uint64_t hash, std::string_view bytes);
  Result<std::string> read(std::uint64_t hash) const;
  // Removes the others, and what a crash left.
  Status keep_only(const std::set<std::uint64_t>& hashes);

 private:
  std::string name_of(std::uint64_t hash) const;
  std::string path_of(std::uint64_t hash) const { return directory_ + "/" + name_of(hash); }

  Files& files_;
  const std::string directory_;
};

}  // namespace hummer
