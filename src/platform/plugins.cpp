#include "platform/plugins.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/files.hpp"
#include "platform/kept_signal_handlers.hpp"

namespace hummer {
namespace {

std::string own_directory() {
  std::string path(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return path.empty() ? std::string(".") : parent_of(path);
}

std::vector<std::string> directories() {
  std::vector<std::string> all;
  if (const char* given = std::getenv("HUMMER_PLUGIN_PATH")) {
    std::string_view rest(given);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) all.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  const std::string own = own_directory();
  all.push_back(own);
  for (const char* library : {"/../lib", "/../lib/x86_64-linux-gnu"}) {
    all.push_back(own + library);
    all.push_back(own + library + "/hummer");
  }
  // Where packages and builds install it: programs with a job inside lie anywhere.
  for (const char* installed :
       {"/usr/local/lib/hummer", "/usr/lib/x86_64-linux-gnu/hummer", "/usr/lib/hummer"}) {
    all.emplace_back(installed);
  }
  return all;
}

void* open_library(const std::string& path) {
  const KeptSignalHandlers handlers;
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

}  // namespace

std::string scheme_of(const std::string& path) {
  const std::size_t end = path.find("://");
  if (end == std::string::npos || end < 2) return {};
  const bool is_scheme =
      std::all_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(end),
                  [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  return is_scheme ? path.substr(0, end) : std::string();
}

Result<detail::FoundPlugin> detail::find_plugin(const std::string& scheme, const char* symbol,
                                                const std::string& who) {
  const std::string name = "libhummer_" + scheme + ".so";
  const std::string wanted =
      (who.empty() ? "what begins with " + scheme + "://" : who) + " needs the library " + name;
  if (::getauxval(AT_BASE) == 0) {
    return Status(ErrorCode::invalid_configuration,
                  wanted +
                      ", which a statically linked program can't load: use the program that is "
                      "linked dynamically");
  }
  std::string looked_in;
  for (const std::string& directory : directories()) {
    std::string path = directory + "/" + name;
    if (::access(path.c_str(), F_OK) != 0) {
      looked_in += (looked_in.empty() ? "" : ", ") + directory;
      continue;
    }
    void* const library = open_library(path);
    if (library == nullptr) {
      return Status(ErrorCode::invalid_configuration,
                    wanted + ", and it can't be loaded: " + ::dlerror());
    }
    return FoundPlugin{::dlsym(library, symbol), std::move(path)};
  }
  return Status(ErrorCode::invalid_configuration,
                wanted + ", which is not in " + looked_in + ": install " +
                    (who.empty() ? "the package hummer-" + scheme : "it") +
                    ", or name its directory in HUMMER_PLUGIN_PATH");
}

Status detail::check_plugin(const std::string& path, bool version_fits, const char* abi) {
  if (version_fits && std::strcmp(abi, HUMMER_ABI) == 0) return {};
  return {ErrorCode::invalid_configuration, "'" + path + "' was built for another engine (" + abi +
                                                "), and this is " HUMMER_ABI
                                                ": install both of the same version"};
}

}  // namespace hummer
