// open_nameless: a file for us alone, for what has no room in memory. Nobody finds it by a name,
// and the system removes it when we are gone, however that comes about.
//
// Thread: any; blocks for as long as the disk takes.
#pragma once

#include <memory>
#include <string>

#include "platform/files.hpp"
#include "platform/platform.hpp"

namespace hummer {

struct NamelessFile {
  std::unique_ptr<WritableFile> writable;
  std::unique_ptr<ReadableFile> readable;
};

// In `directory`, which is made where it is missing. Errors: those of the disk.
Result<NamelessFile> open_nameless(Platform& platform, const std::string& directory);

}  // namespace hummer
