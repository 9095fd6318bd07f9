// loaded_classes: class libraries of a job, loaded once for all tasks of the process that name the
// same ones.
//
//   auto classes = loaded_classes(files, "words.so,/opt/letters.so");
//   (*classes)->find<batch::Mapper>("words.WordMapper");
//
// A library stays loaded until the process ends. Where a file of that name has changed it is
// loaded once more. Before any code of it runs it must carry the ABI text of this engine.
//
// Thread: any. Errors: those of ClassLibraries::load.
#pragma once

#include <memory>
#include <string_view>

#include "class_libraries.hpp"

namespace hummer::hadoop {

Result<const batch::ClassLibraries*> loaded_classes(Files& files, std::string_view libraries);

}  // namespace hummer::hadoop
