#include <dlfcn.h>

#include "platform/system_library.hpp"

// Weak, so that a static link does not take them from its libc, where they would not work.
#pragma weak dlopen
#pragma weak dlsym

namespace hummer {

void* system_symbol(const char* library, const char* name) {
  if (&::dlopen == nullptr || &::dlsym == nullptr) return nullptr;
  void* const loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return loaded == nullptr ? nullptr : ::dlsym(loaded, name);
}

}  // namespace hummer
