# The ABI text: what a job library and the `hummer` that loads it must have in common (see
# src/job_library/engine_abi.hpp). In one header of the build tree that defines HUMMER_ABI and
# HUMMER_VERSION; it is written again when a public header or a flag changes.
#
# Global properties, which jobs outside of this folder are made with (HummerJob.cmake):
#   HUMMER_ABI_HEADER    that header
#   HUMMER_ABI_COMPILER  "gnu 12.2.0"
#   HUMMER_ABI_FLAGS     flags that are part of the text, but for the language's standard
include(HummerAbiText)

set(abi_header ${PROJECT_BINARY_DIR}/abi/hummer_abi.hpp)
hummer_abi_compiler(abi_compiler)
hummer_abi_flags(abi_flags)
set_property(GLOBAL PROPERTY HUMMER_ABI_HEADER ${abi_header})
set_property(GLOBAL PROPERTY HUMMER_ABI_COMPILER ${abi_compiler})
set_property(GLOBAL PROPERTY HUMMER_ABI_FLAGS ${abi_flags})
list(JOIN abi_flags " " abi_flags)

file(GLOB_RECURSE abi_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hummer/*.hpp)
add_custom_command(
  OUTPUT ${abi_header}
  COMMAND ${CMAKE_COMMAND} -D VERSION=${PROJECT_VERSION} -D "COMPILER=${abi_compiler}"
          -D "FLAGS=${abi_flags}" -D ROOT=${PROJECT_SOURCE_DIR}/include -D OUTPUT=${abi_header}
          -P ${PROJECT_SOURCE_DIR}/cmake/write_abi.cmake
  DEPENDS ${abi_headers} ${PROJECT_SOURCE_DIR}/cmake/write_abi.cmake
  COMMENT "ABI text"
  VERBATIM)
add_custom_target(hummer_abi DEPENDS ${abi_header})

# What includes the public headers is compiled with the flags of the text.
function(hummer_require_abi_flags target)
  get_property(flags GLOBAL PROPERTY HUMMER_ABI_FLAGS)
  set(definitions ${flags})
  list(FILTER definitions INCLUDE REGEX "^-D")
  list(FILTER flags EXCLUDE REGEX "^-D")
  target_compile_definitions(${target} INTERFACE ${definitions})
  target_compile_options(${target} INTERFACE ${flags})
  list(FILTER flags INCLUDE REGEX "^-fsanitize=")
  target_link_options(${target} INTERFACE ${flags})
endfunction()

set_source_files_properties(${PROJECT_SOURCE_DIR}/src/job_library/engine_abi.cpp
  ${PROJECT_SOURCE_DIR}/src/platform/plugins.cpp PROPERTIES
  COMPILE_OPTIONS "-include;${abi_header}" OBJECT_DEPENDS ${abi_header})
