# The ABI text: what a job library and the `hummer` that loads it must have in common (see
# src/job_library/engine_abi.hpp). In one header of the build tree, ${HUMMER_ABI_HEADER}, that
# defines HUMMER_ABI and HUMMER_VERSION; it is written again when a public header or a flag changes.
#
# Flags are all but warnings, optimisation and debug information: what is left may change a layout
# or what inline code means.
set(HUMMER_ABI_HEADER ${CMAKE_BINARY_DIR}/abi/hummer_abi.hpp)

get_directory_property(abi_options COMPILE_OPTIONS)
get_directory_property(abi_definitions COMPILE_DEFINITIONS)
string(TOUPPER "${CMAKE_BUILD_TYPE}" abi_build_type)
separate_arguments(abi_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${abi_build_type}}")
list(APPEND abi_flags ${abi_options})
list(FILTER abi_flags EXCLUDE REGEX
     "^-([WOg]|fno-omit-frame-pointer|fno-sanitize|fdiagnostics|f(file|debug|macro)-prefix)")
list(TRANSFORM abi_definitions PREPEND "-D")
list(JOIN abi_flags " " abi_flags)
list(JOIN abi_definitions " " abi_definitions)
string(TOLOWER "${CMAKE_CXX_COMPILER_ID}" abi_compiler)
string(STRIP "-std=c++${CMAKE_CXX_STANDARD} ${abi_flags} ${abi_definitions}" abi_flags)
set(abi_engine "hummer ${PROJECT_VERSION}, ${abi_compiler} ${CMAKE_CXX_COMPILER_VERSION}, ${abi_flags}")

file(GLOB_RECURSE abi_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/hummer/*.hpp)
add_custom_command(
  OUTPUT ${HUMMER_ABI_HEADER}
  COMMAND ${CMAKE_COMMAND} -D "ENGINE=${abi_engine}" -D VERSION=${PROJECT_VERSION}
          -D ROOT=${CMAKE_SOURCE_DIR}/include -D OUTPUT=${HUMMER_ABI_HEADER}
          -P ${CMAKE_SOURCE_DIR}/cmake/write_abi.cmake
  DEPENDS ${abi_headers} ${CMAKE_SOURCE_DIR}/cmake/write_abi.cmake
  COMMENT "ABI text"
  VERBATIM)
add_custom_target(hummer_abi DEPENDS ${HUMMER_ABI_HEADER})

set_source_files_properties(${CMAKE_SOURCE_DIR}/src/job_library/engine_abi.cpp PROPERTIES
  COMPILE_OPTIONS "-include;${HUMMER_ABI_HEADER}" OBJECT_DEPENDS ${HUMMER_ABI_HEADER})
