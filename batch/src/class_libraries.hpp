// ClassLibraries: classes by their names, "library.Class": those of the program, which are of the
// library `hummer`, and those of the shared libraries that were loaded.
//
//   ClassLibraries libraries;
//   HUMMER_TRY(libraries.load(files, "words.so"));
//   auto mapper = libraries.find<Mapper>("words.WordMapper");   // a Factory<Mapper>
//
// Before any code of a shared library runs its ELF note must hold this program's ABI text, with
// that of the headers of this component. What was loaded stays until the process ends.
//
// Thread: one. Errors: corrupt_file, what is no shared library; invalid_argument, one without
// classes, or built for another engine, or a name that is not there or of another kind, with one
// that may be meant; those of the disk.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include <hummer/batch/class_library.hpp>
#include <hummer/batch/job.hpp>
#include <hummer/status.hpp>

#include "platform/files.hpp"

namespace hummer::batch {

class ClassLibraries {
 public:
  // With the program's own.
  ClassLibraries();

  Status load(Files& files, const std::string& path);

  template <typename Base>
  Result<Factory<Base>> find(std::string_view name) const {
    const auto entry = find_entry(name);
    if (!entry.ok()) return entry.status();
    if (const auto* make = std::get_if<ClassFactory<Base>>(*entry)) return Factory<Base>(*make);
    return wrong_kind(name, **entry);
  }
  // An order of keys by the name of a class, or one of the engine's (hummer/batch/key_order.hpp).
  Result<KeyOrder> find_order(std::string_view name) const;

  // "library.Class  what it is", in order.
  std::map<std::string, std::string_view> kinds() const;

 private:
  Status add(const BatchLibrary& library);
  Result<const ClassLibrary::Entry*> find_entry(std::string_view name) const;
  static Status wrong_kind(std::string_view name, const ClassLibrary::Entry& entry);

  std::map<std::string, ClassLibrary, std::less<>> libraries_;
};

// The library of the program's own classes.
void add_built_in_classes(ClassLibrary& library);

}  // namespace hummer::batch
