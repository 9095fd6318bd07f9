# What of a compiler and its flags is part of the ABI text (src/job_library/engine_abi.hpp):
# for the engine, and for jobs of whoever has found it (find_package, add_subdirectory).
#
# Flags are all but those that can change neither a layout nor what inline code means: warnings,
# optimisation, debug information, hardening, where code may lie, and what its symbols are.

# The compiler of the directory that calls it: "gnu 12.2.0".
function(hummer_abi_compiler out)
  string(TOLOWER "${CMAKE_CXX_COMPILER_ID}" compiler)
  set(${out} "${compiler} ${CMAKE_CXX_COMPILER_VERSION}" PARENT_SCOPE)
endfunction()

# Its flags as a list, and those of them that its options and definitions give (not CMAKE_CXX_FLAGS).
function(hummer_abi_flags out)
  get_directory_property(options COMPILE_OPTIONS)
  get_directory_property(definitions COMPILE_DEFINITIONS)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
  list(TRANSFORM definitions PREPEND "-D")
  list(APPEND flags ${options} ${definitions})
  list(FILTER flags EXCLUDE REGEX
       "^-([WOg]|pipe$|pthread$|DNDEBUG|D_FORTIFY_SOURCE|U_FORTIFY_SOURCE|D_GLIBCXX_ASSERTIONS)")
  list(FILTER flags EXCLUDE REGEX
       "^-f(no-)?(omit-frame-pointer|sanitize-recover|diagnostics|color-diagnostics|file-prefix|debug-prefix|macro-prefix|PIC|PIE|pic|pie|lto|stack-protector|stack-clash-protection|cf-protection|visibility|semantic-interposition|gnu-unique|data-sections|function-sections)")
  # Clang's way out of a defect of its own (HummerCompiler.cmake).
  list(FILTER flags EXCLUDE REGEX "^-fno-sanitize")
  # What depends on the target or the configuration is not known yet.
  list(FILTER flags EXCLUDE REGEX "\\$<")
  set(${out} ${flags} PARENT_SCOPE)
endfunction()
