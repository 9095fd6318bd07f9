// DynamicLibrary: a shared library that was loaded from bytes.
//
// Every call loads a library of its own, also of equal bytes: nothing is shared but what the
// process itself has and exports. All its references are resolved at once; its symbols are visible
// to nobody else. Loading runs its constructors, so look at the bytes first.
//
// Linux only: a simulation has no libraries, nor has a statically linked program, which must not
// refer to this.
//
// Lifecycle: destroying it unloads it; nothing of it may be in use then, and nothing may be left
// that points into it (functions, vtables, types of exceptions). Thread: any. Errors:
// invalid_argument with what the dynamic linker says, such as an undefined symbol; io_error when
// there is no memory or file for the bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

class DynamicLibrary {
 public:
  virtual ~DynamicLibrary() = default;
  // Null when it has none of that name.
  virtual void* symbol(const std::string& name) const = 0;
};

// `name` is for people: debuggers and /proc/PID/maps show it.
Result<std::unique_ptr<DynamicLibrary>> load_dynamic_library(std::string_view bytes,
                                                             const std::string& name);

// Of a library that was not loaded for all of the process, such as a plug-in: what it exports is
// visible to those that are loaded from now on. `place`: anything that lies in it. internal, where
// the dynamic linker does not know it.
Status show_symbols_of(const void* place);

}  // namespace hummer
