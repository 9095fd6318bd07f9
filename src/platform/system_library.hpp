// A shared library that a machine may have or lack: what it is good for goes another way without
// it, so that a program that was built with its header runs everywhere.
//
//   const auto inflate = reinterpret_cast<Inflate*>(system_symbol("libisal.so.2", "isal_inflate"));
//   if (inflate == nullptr) …                       // not here
//
// Null where the library or the symbol is not there, and in programs that are linked statically,
// which load nothing. What was loaded stays.
//
// Thread: any. Cost: a search by the dynamic linker: ask once.
#pragma once

namespace hummer {

void* system_symbol(const char* library, const char* name);

}  // namespace hummer
