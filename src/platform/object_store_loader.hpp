// load_object_store: the object store of a scheme, out of its library.
//
// libhummer_<scheme>.so is looked for in the directories that HUMMER_PLUGIN_PATH names (parted by
// ':'), beside the running program, and in ../lib and ../lib/x86_64-linux-gnu from there, each also
// in their folder `hummer`. It stays loaded until the process ends.
//
// Linux only. A statically linked program can't load any, and says so.
//
// Errors: invalid_configuration, which says where it was looked for, and the package; or that a
// library was built for another engine or is none of an object store. Thread: any.
#pragma once

#include <memory>
#include <string>

#include <hummer/status.hpp>

#include "platform/object_store.hpp"

namespace hummer {

Result<std::unique_ptr<ObjectStore>> load_object_store(const std::string& scheme);

// "s3" of "s3://bucket/key"; empty: a path of the file system.
std::string scheme_of(const std::string& path);

}  // namespace hummer
