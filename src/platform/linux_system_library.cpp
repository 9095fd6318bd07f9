#include <dlfcn.h>
#include <sys/auxv.h>

#include "platform/system_library.hpp"

// Weak, so that a static link does not take them into the program for this alone.
#pragma weak dlopen
#pragma weak dlsym

namespace hummer {

void* system_symbol(const char* library, const char* name) {
  // Where no dynamic linker has loaded the program, a library would be of another libc.
  const bool is_static = ::getauxval(AT_BASE) == 0;
  if (is_static || &::dlopen == nullptr || &::dlsym == nullptr) return nullptr;
  void* const loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return loaded == nullptr ? nullptr : ::dlsym(loaded, name);
}

}  // namespace hummer
