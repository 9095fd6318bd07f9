# cmake -D VERSION=... -D COMPILER=... -D FLAGS=... -D ROOT=include -D OUTPUT=header -P write_abi.cmake
# Writes the ABI text with a hash over what a job's library has of the public headers; see HummerAbi.cmake.
# Comments, blank lines and indentation do not count, nor do the headers that only tests include.
# A job that is compiled in another way says so by its own definitions (HummerJob.cmake).
#
# With -D COMPONENT=batch instead of version, compiler and flags: HUMMER_BATCH_ABI, what the headers of
# a component beside the engine add to it.
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/hummer/*.hpp)
list(FILTER headers EXCLUDE REGEX "/testing/")
list(SORT headers)
set(all "")
foreach(header ${headers})
  file(READ ${ROOT}/${header} code)
  string(REGEX REPLACE "\n[ \t]*//[^\n]*" "" code "\n${code}")
  string(REGEX REPLACE "[ \t]+//[^\n\"]*\n" "\n" code "${code}")  # behind code, and in no literal
  string(REGEX REPLACE "\n[ \t\n]+" "\n" code "${code}")
  string(SHA256 hash "${code}")
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
if(COMPONENT)
  string(TOUPPER ${COMPONENT} name)
  file(WRITE ${OUTPUT} "#pragma once\n#define HUMMER_${name}_ABI \", ${COMPONENT} headers ${hash}\"\n")
  return()
endif()
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
