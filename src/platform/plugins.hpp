// load_plugin: what the library of a scheme brings: the object store of s3://, the messages of
// kafka://; or that of a format, where the program is to start without its libraries.
//
//   struct ObjectStorePlugin {
//     static constexpr const char* symbol = "hummer_object_store";
//     static constexpr std::uint32_t newest_version = 1;   // of its header
//     std::uint32_t version = newest_version;
//     const char* abi = nullptr;                           // HUMMER_ABI, of the public headers
//     …                                                    // functions
//   };
//   Result<const ObjectStorePlugin*> plugin = load_plugin<ObjectStorePlugin>("s3");
//   load_plugin<JsonLookPlugin>("json", "what looks at JSON lines");   // who needs it, in errors
//
// libhummer_<scheme>.so is looked for in the directories that HUMMER_PLUGIN_PATH names (parted by
// ':'), beside the running program, in ../lib and ../lib/x86_64-linux-gnu from there, each also in
// their folder `hummer`, and where packages install it. It stays loaded until the process ends,
// and leaves the handlers of signals as they were. Null: the library is there, and brings
// something else.
//
// Linux only. A statically linked program can't load any, and says so.
//
// Errors: invalid_configuration, which says where it was looked for, and the package; or that a
// library is of another version of the engine. Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include <hummer/status.hpp>

namespace hummer {

namespace detail {
struct FoundPlugin {
  const void* plugin = nullptr;
  std::string path;
};
Result<FoundPlugin> find_plugin(const std::string& scheme, const char* symbol,
                                const std::string& who);
Status check_plugin(const std::string& path, bool version_fits, const char* abi);
}  // namespace detail

template <typename Plugin>
Result<const Plugin*> load_plugin(const std::string& scheme, const std::string& who = {}) {
  const Result<detail::FoundPlugin> found = detail::find_plugin(scheme, Plugin::symbol, who);
  if (!found.ok()) return found.status();
  const auto* const plugin = static_cast<const Plugin*>(found->plugin);
  if (plugin == nullptr) return plugin;
  HUMMER_TRY(
      detail::check_plugin(found->path, plugin->version == Plugin::newest_version, plugin->abi));
  return plugin;
}

// "s3" of "s3://bucket/key"; empty: a path of the file system.
std::string scheme_of(const std::string& path);

}  // namespace hummer
