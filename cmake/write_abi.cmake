# cmake -D VERSION=... -D COMPILER=... -D FLAGS=... -D ROOT=include -D OUTPUT=header -P write_abi.cmake
# Writes the ABI text with a hash over all public headers; see HummerAbi.cmake. A job that is compiled in
# another way says so by its own definitions (HummerJob.cmake).
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/hummer/*.hpp)
list(SORT headers)
set(all "")
foreach(header ${headers})
  file(SHA256 ${ROOT}/${header} hash)
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
string(STRIP "-std=c++20 ${FLAGS}" FLAGS)
file(WRITE ${OUTPUT} "#pragma once
#ifndef HUMMER_ABI_COMPILER
#define HUMMER_ABI_COMPILER \"${COMPILER}\"
#endif
#ifndef HUMMER_ABI_FLAGS
#define HUMMER_ABI_FLAGS \"${FLAGS}\"
#endif
#define HUMMER_ABI \\
  \"hummer ${VERSION}, \" HUMMER_ABI_COMPILER \", \" HUMMER_ABI_FLAGS \", headers ${hash}\"
#define HUMMER_VERSION \"${VERSION}\"
")
