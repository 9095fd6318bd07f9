# cmake -D ENGINE=... -D VERSION=... -D ROOT=include -D OUTPUT=header -P write_abi.cmake
# Writes the ABI text with a hash over all public headers; see HummerAbi.cmake.
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/hummer/*.hpp)
list(SORT headers)
set(all "")
foreach(header ${headers})
  file(SHA256 ${ROOT}/${header} hash)
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUTPUT}
     "#pragma once\n#define HUMMER_ABI \"${ENGINE}, headers ${hash}\"\n#define HUMMER_VERSION \"${VERSION}\"\n")
